/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `whatif upload`: send what a run found to another system. Context: viewer-export.
 */
#ifndef WI_UPLOAD_UPLOAD_H
#define WI_UPLOAD_UPLOAD_H

/* The command. Returns an exit status: 0, 1 after an error (or alerts, where they are to be errors), 2 for usage; says on
 * stderr what was wrong. */
int wi_upload_main(int argc, char **argv);

#endif
