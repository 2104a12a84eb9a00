/* SPDX-License-Identifier: BSD-2-Clause */
/* Width, colour, character set: see style.h. */
#include "viewer-export/report/style.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 80
#define MIN_WIDTH     40
#define MAX_WIDTH     200 /* longer lines are hard to read */

/* The first of these that is set decides, as for setlocale. */
static bool locale_is_unicode(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0')
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

static uint32_t width_of(FILE *out)
{
    const char *columns = getenv("COLUMNS");
    unsigned long width = columns != NULL ? strtoul(columns, NULL, 10) : 0;
    struct winsize size;
    if (width == 0 && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width == 0)
        return DEFAULT_WIDTH;
    return width < MIN_WIDTH ? MIN_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : (uint32_t)width;
}

struct wi_style wi_style_of(FILE *out, uint32_t width)
{
    const char *terminal = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    bool dumb = terminal != NULL && strcmp(terminal, "dumb") == 0;
    bool refused = no_colour != NULL && no_colour[0] != '\0';
    int fd = fileno(out);
    return (struct wi_style){
        .width = width != 0 ? width : width_of(out),
        .colour = fd >= 0 && isatty(fd) && !dumb && terminal != NULL && !refused,
        .unicode = !dumb && locale_is_unicode(),
    };
}

const char *wi_colour(const struct wi_style *style, enum wi_colour colour)
{
    static const char *const codes[] = {"", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m"};
    return style->colour ? codes[colour] : "";
}

const char *wi_colour_end(const struct wi_style *style)
{
    return style->colour ? "\x1b[0m" : "";
}

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Bytes of the character at `text`, the stray continuation bytes after it included. */
static size_t character(const char *text)
{
    size_t n = 1;
    while (continues(text[n]))
        n++;
    return n;
}

static bool is_unsafe(const char *text, size_t n)
{
    const unsigned char *byte = (const unsigned char *)text;
    if (n == 1)
        return byte[0] < 0x20 || byte[0] >= 0x7f; /* a lone high byte is no character */
    if (n == 2)
        return byte[0] == 0xc2 && byte[1] < 0xa0; /* C1: some terminals obey them */
    bool overrides = byte[0] == 0xe2 && ((byte[1] == 0x80 && byte[2] >= 0xa8 && byte[2] <= 0xae) ||
                                         (byte[1] == 0x81 && byte[2] >= 0xa6 && byte[2] <= 0xa9));
    return n > 4 || byte[0] < 0xc0 || overrides;
}

void wi_clean(char *out, size_t size, const char *text)
{
    size_t at = 0;
    while (*text != '\0') {
        size_t n = character(text);
        bool unsafe = is_unsafe(text, n);
        if (at + (unsafe ? 1 : n) >= size)
            break;
        if (unsafe)
            out[at++] = '?';
        else
            at = (size_t)(stpncpy(out + at, text, n) - out);
        text += n;
    }
    out[at] = '\0';
}

size_t wi_columns(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text += character(text))
        n++;
    return n;
}

static void print_character(const struct wi_style *style, FILE *out, const char *text)
{
    size_t n = character(text);
    if (n > 1 && !style->unicode)
        putc('?', out);
    else
        fwrite(text, 1, n, out);
}

void wi_print_cell(const struct wi_style *style, FILE *out, const char *text, size_t columns)
{
    size_t length = wi_columns(text), printed = 0;
    if (length > columns && columns > 0) {
        fputs(style->unicode ? "\xe2\x80\xa6" : "~", out);
        printed = 1;
        for (; length > columns - 1; length--)
            text += character(text);
    }
    for (; *text != '\0' && printed < columns; printed++, text += character(text))
        print_character(style, out, text);
    for (; printed < columns; printed++)
        putc(' ', out);
}

/* A number and its percent sign are one word. */
static size_t word_columns(const char *text, size_t *bytes)
{
    size_t columns = 0;
    *bytes = 0;
    while (text[*bytes] != '\0' && (text[*bytes] != ' ' || text[*bytes + 1] == '%')) {
        *bytes += character(text + *bytes);
        columns++;
    }
    return columns;
}

void wi_print_wrapped(const struct wi_style *style, FILE *out, const char *first, const char *text)
{
    size_t indent = wi_columns(first), column = indent, bytes;
    fputs(first, out);
    bool begins_line = true;
    while (*text != '\0') {
        size_t columns = word_columns(text, &bytes);
        if (!begins_line && column + 1 + columns > style->width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            begins_line = true;
        }
        if (!begins_line) {
            putc(' ', out);
            column++;
        }
        for (const char *end = text + bytes; text < end; text += character(text))
            print_character(style, out, text);
        column += columns;
        begins_line = false;
        while (*text == ' ')
            text++;
    }
    putc('\n', out);
}
