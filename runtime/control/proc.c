/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading /proc. See proc.h. */
#include "runtime/control/proc.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ssize_t read_start(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n;
}

bool wi_proc_is_running(uint32_t pid, uint32_t tid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid);
    if (read_start(path, text, sizeof text) <= 0)
        return false;
    const char *after_name = strrchr(text, ')');
    return after_name && after_name[1] == ' ' && after_name[2] == 'R';
}

void wi_proc_read_ticks(uint64_t *total, uint64_t *stolen)
{
    char text[512];
    *total = *stolen = 0;
    if (read_start("/proc/stat", text, sizeof text) <= 4)
        return;
    char *at = text + 4;
    for (int field = 0; field < 8; field++) { /* user nice system idle iowait irq softirq steal */
        uint64_t ticks = strtoull(at, &at, 10);
        *total += ticks;
        if (field == 7)
            *stolen = ticks;
    }
}

void wi_proc_cpu_model(char *text, size_t size)
{
    char line[256];
    text[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        snprintf(text, size, "%s", colon + 2);
        text[strcspn(text, "\n")] = '\0';
        break;
    }
    fclose(file);
}

int wi_proc_perf_paranoid(void)
{
    char text[32];
    return read_start("/proc/sys/kernel/perf_event_paranoid", text, sizeof text) > 0 ? atoi(text) : -100;
}
