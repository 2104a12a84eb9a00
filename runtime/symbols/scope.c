/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What counts as the program's own code: see struct wi_scope.
 *
 * A path or name is judged once, to a few flags; a frame then combines those of its binary, its file and its
 * function. An exclusion of any of them wins. Then an include glob that names the file or the function takes even
 * system code in; one that names the binary, or the default, takes in all of it but system code.
 */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/symbols/internal.h"

/* ---- globs ------------------------------------------------------------------------------------------- */

static int copy_globs(const char *const *globs, size_t n, char ***out, size_t *n_out)
{
    *out = calloc(n + 1, sizeof **out);
    for (*n_out = 0; *out && *n_out < n; ++*n_out)
        if (!((*out)[*n_out] = strdup(globs[*n_out])))
            return -ENOMEM;
    return *out ? 0 : -ENOMEM;
}

static void free_all(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

int wi_scope_init(struct wi_scope_rules *rules, const struct wi_scope *scope)
{
    static const struct wi_scope defaults;
    scope = scope ? scope : &defaults;
    memset(rules, 0, sizeof *rules);
    int error = copy_globs(scope->include, scope->n_include, &rules->include, &rules->n_include);
    return error ? error : copy_globs(scope->exclude, scope->n_exclude, &rules->exclude, &rules->n_exclude);
}

void wi_scope_fini(struct wi_scope_rules *rules)
{
    free_all(rules->include, rules->n_include);
    free_all(rules->exclude, rules->n_exclude);
    free_all(rules->projects, rules->n_projects);
}

static bool path_matches(const char *glob, const char *path)
{
    if (fnmatch(glob, path, 0) == 0)
        return true;
    return !strchr(glob, '/') && fnmatch(glob, wi_base_name(path), 0) == 0;
}

static uint8_t match_path(const struct wi_scope_rules *rules, const char *path)
{
    uint8_t flags = WI_SCOPE_KNOWN;
    for (size_t i = 0; i < rules->n_include; i++)
        if (path_matches(rules->include[i], path))
            flags |= WI_SCOPE_INCLUDED;
    for (size_t i = 0; i < rules->n_exclude; i++)
        if (path_matches(rules->exclude[i], path))
            flags |= WI_SCOPE_EXCLUDED;
    return flags;
}

/* ---- the program's directory -------------------------------------------------------------------------- */

static bool is_marked(const char *directory)
{
    static const char *const marks[] = {".git",           ".hg",         ".svn",      "Cargo.toml",
                                        "CMakeLists.txt", "meson.build", "configure", "BUILD.bazel",
                                        "Makefile",       "package.json"};
    char path[PATH_MAX + 32];
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, marks[i]);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* Directories that hold many programs say nothing about one. */
static bool is_shared(const char *directory)
{
    static const char *const shared[] = {"",     "/usr",  "/usr/local", "/opt", "/home", "/tmp",
                                         "/var", "/root", "/srv",       "/mnt", "/media"};
    const char *home = getenv("HOME");
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (strcmp(directory, shared[i]) == 0)
            return true;
    return home && strcmp(directory, home) == 0;
}

static bool is_system_binary(const char *path)
{
    static const char *const places[] = {"/bin/",         "/sbin/",          "/lib/",       "/lib64/",
                                         "/lib32/",       "/usr/bin/",       "/usr/sbin/",  "/usr/lib",
                                         "/usr/libexec/", "/usr/local/bin/", "/nix/store/", "["};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(path, places[i], strlen(places[i])) == 0)
            return true;
    return false;
}

static bool cut_last(char *directory)
{
    char *slash = strrchr(directory, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* The outermost directory above the executable that looks like a source tree, else the executable's own, or the
 * one beside its bin/. */
static bool project_of(const char *path, char project[PATH_MAX])
{
    char directory[PATH_MAX];
    if (path[0] != '/' || is_system_binary(path) || strlen(path) >= sizeof directory)
        return false;
    strcpy(directory, path);
    cut_last(directory);
    strcpy(project, directory);
    if (strcmp(wi_base_name(project), "bin") == 0)
        cut_last(project);
    for (; !is_shared(directory); cut_last(directory))
        if (is_marked(directory))
            strcpy(project, directory);
    return !is_shared(project);
}

void wi_scope_add_main(struct wi_scope_rules *rules, const char *path)
{
    char project[PATH_MAX + 1], *copy = NULL;
    if (!project_of(path, project))
        return;
    strcat(project, "/");
    char **more = realloc(rules->projects, (rules->n_projects + 1) * sizeof *more);
    if (more)
        rules->projects = more;
    if (more && (copy = strdup(project)) != NULL)
        rules->projects[rules->n_projects++] = copy;
}

/* ---- judging ------------------------------------------------------------------------------------------ */

uint8_t wi_scope_of_module(const struct wi_scope_rules *rules, const char *path, bool is_main)
{
    uint8_t flags = match_path(rules, path);
    if (is_main)
        flags |= WI_SCOPE_PROJECT;
    for (size_t i = 0; i < rules->n_projects; i++)
        if (strncmp(path, rules->projects[i], strlen(rules->projects[i])) == 0)
            flags |= WI_SCOPE_PROJECT;
    return flags;
}

static bool is_system_source(const char *path)
{
    static const char *const starts[] = {"/usr/include/", "/usr/local/include/", "/usr/lib/", "/rustc/",
                                         "/rust/deps/"};
    static const char *const parts[] = {"/include/c++/", "/lib/gcc/", "/lib/clang/",    "/rustlib/src/rust/",
                                        "/.cargo/",      "/libgcc/",  "/libstdc++-v3/", "/libgfortran/"};
    const char *base = wi_base_name(path);
    if (strcmp(base, "whatif.h") == 0 || strcmp(base, "coz.h") == 0)
        return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(path, starts[i], strlen(starts[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(path, parts[i]))
            return true;
    return false;
}

uint8_t wi_scope_of_file(const struct wi_scope_rules *rules, const char *path)
{
    return (uint8_t)(match_path(rules, path) | (is_system_source(path) ? WI_SCOPE_SYSTEM : 0));
}

/* Without debug information only its name tells a function of the C++ or Rust library, or of the start-up code,
 * from the program's own. */
static bool is_system_name(const char *name)
{
    static const char *const starts[] = {"std::",           "__gnu_cxx::", "__cxxabiv1::", "operator new",
                                         "operator delete", "core::",      "alloc::",      "<core::",
                                         "<alloc::",        "<std::",      "__rust_",      "rust_",
                                         "_Unwind_",        "__libc_",     "__asan_"};
    static const char *const whole[] = {"_start",
                                        "_init",
                                        "_fini",
                                        "frame_dummy",
                                        "register_tm_clones",
                                        "__do_global_dtors_aux",
                                        "deregister_tm_clones",
                                        "_dl_relocate_static_pie"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i]) == 0)
            return true;
    return false;
}

uint8_t wi_scope_of_function(const struct wi_scope_rules *rules, const char *name, const char *full_name,
                             bool placed)
{
    uint8_t flags = WI_SCOPE_KNOWN;
    for (size_t i = 0; i < rules->n_include; i++)
        if (fnmatch(rules->include[i], name, 0) == 0 || fnmatch(rules->include[i], full_name, 0) == 0)
            flags |= WI_SCOPE_INCLUDED;
    for (size_t i = 0; i < rules->n_exclude; i++)
        if (fnmatch(rules->exclude[i], name, 0) == 0 || fnmatch(rules->exclude[i], full_name, 0) == 0)
            flags |= WI_SCOPE_EXCLUDED;
    if (!placed && is_system_name(name))
        flags |= WI_SCOPE_SYSTEM;
    return flags;
}

/* With include globs any binary but the system's may have sources or functions that one of them names. */
bool wi_scope_may_hold(const struct wi_scope_rules *rules, uint8_t module, const char *path)
{
    if (module & WI_SCOPE_EXCLUDED)
        return false;
    if (module & (WI_SCOPE_INCLUDED | WI_SCOPE_PROJECT))
        return true;
    return rules->n_include > 0 && !is_system_binary(path);
}

bool wi_scope_holds(const struct wi_scope_rules *rules, uint8_t module, uint8_t file, uint8_t function)
{
    uint8_t all = module | file | function;
    if (all & WI_SCOPE_EXCLUDED)
        return false;
    if ((file | function) & WI_SCOPE_INCLUDED)
        return true;
    uint8_t wanted = rules->n_include ? WI_SCOPE_INCLUDED : WI_SCOPE_PROJECT;
    return (module & wanted) && !((file | function) & WI_SCOPE_SYSTEM);
}
