/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quiet: programs of which there is nothing to report. Built with -DPOINT it has a progress point, which is visited with
 * an argument only.
 */
#include "burn.h"

#include <stdlib.h>
#ifdef POINT
#include "whatif.h"
#endif

int main(int argc, char **argv)
{
    double rounds = atof(argv[1]);
    for (int i = 0; i < (int)rounds; i++) {
        burn_ms(2);
#ifdef POINT
        if (argc > 2)
            WHATIF_PROGRESS_NAMED("rounds");
        else if (i == 5) /* the point is known to the session, but work ends before */
            i = (int)rounds;
#endif
    }
    return 0 * argc;
}
