/* SPDX-License-Identifier: BSD-2-Clause */
/* The private directory of a run. See place.h. */
#include "runtime/launcher/place.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int wi_place_create(struct wi_place *place, const char *agent)
{
    const char *const roots[] = {"/dev/shm", getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    int error = ENOENT;
    place->directory[0] = place->link[0] = '\0';
    for (; place->root < sizeof roots / sizeof *roots; place->root++) {
        const char *root = roots[place->root];
        if (!root || !*root || strlen(root) > 200 || strpbrk(root, " :"))
            continue;
        snprintf(place->directory, sizeof place->directory, "%s/whatif-XXXXXX", root);
        if (mkdtemp(place->directory)) {
            error = 0;
            break;
        }
        error = errno;
    }
    if (error) {
        place->directory[0] = '\0';
        return -error;
    }
    snprintf(place->session, sizeof place->session, "%s/session", place->directory);
    snprintf(place->agent, sizeof place->agent, "%s", agent);
    if (strpbrk(agent, " :\t\n")) { /* the loader would take it for two */
        snprintf(place->link, sizeof place->link, "%s/agent.so", place->directory);
        if (symlink(agent, place->link) != 0) {
            error = errno;
            place->link[0] = '\0';
            wi_place_remove(place);
            return -error;
        }
        snprintf(place->agent, sizeof place->agent, "%s", place->link);
    }
    return 0;
}

void wi_place_remove(struct wi_place *place)
{
    if (!place->directory[0])
        return;
    unlink(place->session);
    if (place->link[0])
        unlink(place->link);
    rmdir(place->directory);
    place->directory[0] = '\0';
}
