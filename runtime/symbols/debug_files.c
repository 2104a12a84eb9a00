/* SPDX-License-Identifier: BSD-2-Clause */
/* See debug_files.h. A search is a walk over candidate paths, until one is what was wanted. */
#include "runtime/symbols/debug_files.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

struct search {
    const struct wi_debug_wanted *wanted;
    bool by_checksum;   /* a candidate without build-id may prove itself by the link's checksum */
    bool saw_other;     /* a candidate was of another build */
    char *path;         /* PATH_MAX bytes: of the one found */
    struct wi_elf *elf; /* it */
};

/* ---- is it the right one? ---------------------------------------------------------------------------- */

static bool checksum_is(const char *path, uint32_t wanted)
{
    static unsigned char buffer[1 << 16];
    FILE *file = fopen(path, "rbe");
    if (!file)
        return false;
    uLong checksum = crc32(0, NULL, 0);
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0)
        checksum = crc32(checksum, buffer, (uInt)n);
    fclose(file);
    return checksum == wanted;
}

/* A stripped file whose debug link bears its own name must not find itself. */
static bool has_anything(struct wi_elf *elf)
{
    return wi_elf_has_section(elf, ".debug_info") || wi_elf_has_section(elf, ".zdebug_info") ||
           wi_elf_has_section(elf, ".symtab");
}

static bool is_wanted(const struct search *search, const char *path, struct wi_elf *elf)
{
    const struct wi_debug_wanted *wanted = search->wanted;
    uint8_t id[WI_BUILD_ID_MAX];
    size_t length = wi_elf_build_id(elf, id);
    if (length > 0 && wanted->build_id_length > 0)
        return length == wanted->build_id_length && memcmp(id, wanted->build_id, length) == 0;
    return search->by_checksum && checksum_is(path, wanted->link_checksum);
}

static bool try(struct search *search, const char *path)
{
    struct wi_elf *elf;
    if (wi_elf_open(path, &elf) != 0)
        return false;
    bool useful = has_anything(elf);
    if (!useful || !is_wanted(search, path, elf)) {
        search->saw_other |= useful;
        wi_elf_close(elf);
        return false;
    }
    snprintf(search->path, PATH_MAX, "%s", path);
    search->elf = elf;
    return true;
}

/* ---- where could it be? ------------------------------------------------------------------------------ */

/* "/proc/123/root" of a path below it, else nothing. */
static void other_root(const char *path, char *root, size_t size)
{
    int end = 0;
    root[0] = '\0';
    sscanf(path, "/proc/%*[0-9a-z]/root%n", &end);
    if (end > 0)
        snprintf(root, size, "%.*s", end, path);
}

/* Call `visit` with each debug directory until it returns true. */
static bool each_directory(struct search *search, bool (*visit)(struct search *search, const char *directory))
{
    char root[64], directory[PATH_MAX];
    other_root(search->wanted->path, root, sizeof root);
    const char *configured = getenv("WHATIF_DEBUG_PATH");
    for (const char *at = configured ? configured : ""; *at; at += strspn(at, ":")) {
        size_t length = strcspn(at, ":");
        snprintf(directory, sizeof directory, "%.*s", (int)length, at);
        if (visit(search, directory))
            return true;
        at += length;
    }
    if (root[0]) {
        snprintf(directory, sizeof directory, "%s/usr/lib/debug", root);
        if (visit(search, directory))
            return true;
    }
    return visit(search, "/usr/lib/debug");
}

static void build_id_path(const char *directory, const uint8_t *id, size_t length, char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%s/.build-id/%02x/", directory, id[0]);
    for (size_t i = 1; i < length && n > 0 && n < PATH_MAX - 8; i++)
        n += snprintf(path + n, (size_t)(PATH_MAX - n), "%02x", id[i]);
    if (n > 0 && n < PATH_MAX - 8)
        strcpy(path + n, ".debug");
}

static bool try_build_id(struct search *search, const char *directory)
{
    char path[PATH_MAX];
    if (search->wanted->build_id_length < 2)
        return false;
    build_id_path(directory, search->wanted->build_id, search->wanted->build_id_length, path);
    return try(search, path);
}

static int directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) : 0;
}

static bool try_link_below(struct search *search, const char *directory)
{
    char path[PATH_MAX];
    const struct wi_debug_wanted *wanted = search->wanted;
    int n = snprintf(path, sizeof path, "%s%.*s/%s", directory, directory_length(wanted->real_path),
                     wanted->real_path, wanted->link);
    return n < (int)sizeof path && try(search, path);
}

static bool try_link_beside(struct search *search, const char *beside)
{
    static const char *const folders[] = {"", "/.debug"};
    char path[PATH_MAX];
    for (size_t i = 0; i < 2; i++) {
        int n = snprintf(path, sizeof path, "%.*s%s/%s", directory_length(beside), beside, folders[i],
                         search->wanted->link);
        if (n < (int)sizeof path && try(search, path))
            return true;
    }
    return false;
}

/* Not linked: only who sets the variable needs the library. */
static bool try_debuginfod(struct search *search)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (!urls || !*urls || search->wanted->build_id_length == 0)
        return false;
    void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return false;
    void *(*begin)(void) = (void *(*)(void))dlsym(library, "debuginfod_begin");
    int (*find)(void *, const unsigned char *, int, char **) =
        (int (*)(void *, const unsigned char *, int, char **))dlsym(library, "debuginfod_find_debuginfo");
    void *client = begin && find ? begin() : NULL;
    char *path = NULL;
    if (client) {
        int fd = find(client, search->wanted->build_id, (int)search->wanted->build_id_length, &path);
        if (fd >= 0)
            close(fd);
    }
    bool found = path && try(search, path);
    free(path);
    return found; /* the library stays: it may hold threads and caches */
}

int wi_debug_find(const struct wi_debug_wanted *wanted, char path[PATH_MAX], struct wi_elf **out)
{
    struct search search = {.wanted = wanted, .path = path};
    bool found = each_directory(&search, try_build_id);
    if (!found && wanted->link[0]) {
        search.by_checksum = true;
        found = try_link_beside(&search, wanted->path) || try_link_beside(&search, wanted->real_path) ||
                each_directory(&search, try_link_below);
    }
    if (!found)
        found = try_debuginfod(&search);
    if (!found)
        return search.saw_other ? -ESTALE : -ENOENT;
    *out = search.elf;
    return 0;
}

/* ---- what a file says -------------------------------------------------------------------------------- */

/* A name, padded to four bytes, and a checksum. */
void wi_debug_link(struct wi_elf *elf, struct wi_debug_wanted *wanted)
{
    struct wi_bytes link = wi_elf_section(elf, ".gnu_debuglink");
    wanted->link[0] = '\0';
    size_t length = link.data ? strnlen((const char *)link.data, link.size) : 0;
    size_t checksum_at = (length + 4) & ~(size_t)3;
    if (length == 0 || length > NAME_MAX || checksum_at + 4 > link.size || memchr(link.data, '/', length))
        return;
    memcpy(wanted->link, link.data, length + 1);
    memcpy(&wanted->link_checksum, link.data + checksum_at, 4);
}

/* A name and a build-id. */
int wi_debug_find_alt(struct wi_elf *elf, const struct wi_debug_wanted *wanted, const char *elf_path,
                      char path[PATH_MAX])
{
    struct wi_bytes link = wi_elf_section(elf, ".gnu_debugaltlink");
    size_t length = link.data ? strnlen((const char *)link.data, link.size) : 0;
    if (length == 0 || length + 1 >= link.size || length >= PATH_MAX / 2)
        return -ENODATA;
    const char *name = (const char *)link.data;
    struct wi_debug_wanted alt = {.path = wanted->path,
                                  .real_path = wanted->real_path,
                                  .build_id = link.data + length + 1,
                                  .build_id_length = link.size - length - 1};
    struct search search = {.wanted = &alt, .path = path};
    char root[64], candidate[PATH_MAX];
    other_root(wanted->path, root, sizeof root);
    if (name[0] == '/')
        snprintf(candidate, sizeof candidate, "%s%s", root, name);
    else
        snprintf(candidate, sizeof candidate, "%.*s/%s", directory_length(elf_path), elf_path, name);
    if (try(&search, candidate) || (name[0] == '/' && try(&search, name)) ||
        each_directory(&search, try_build_id)) {
        wi_elf_close(search.elf);
        return 0;
    }
    snprintf(path, PATH_MAX, "%s", name);
    return -ENOENT;
}
