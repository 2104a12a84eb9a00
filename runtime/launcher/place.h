/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The private directory of a run: it holds the session file, and a link to the agent where the agent's own path could
 * not stand in LD_PRELOAD.
 */
#ifndef WI_LAUNCHER_PLACE_H
#define WI_LAUNCHER_PLACE_H

struct wi_place {  /* zero-initialised */
    unsigned root; /* the place to begin with; of the one that was taken, afterwards */
    char directory[256];
    char session[300];
    char agent[4096]; /* what to preload */
    char link[300];   /* the link to the agent, "" if none was needed */
};

/* Make it, mode 0700, in the first place from `root` on that takes it: in memory if possible (/dev/shm), else in
 * XDG_RUNTIME_DIR, TMPDIR or /tmp. 0 or -errno. */
int wi_place_create(struct wi_place *place, const char *agent);
/* Remove everything. Safe when part of it is missing. */
void wi_place_remove(struct wi_place *place);

#endif
