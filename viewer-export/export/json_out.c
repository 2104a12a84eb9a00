/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON written as it comes: see json_out.h. */
#include "viewer-export/export/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/profile/json.h"
#include "runtime/profile/records.h"

static void put_escaped(FILE *out, const char *at)
{
    switch (*at) {
    case '"':
        fputs("\\\"", out);
        return;
    case '\\':
        fputs("\\\\", out);
        return;
    case '\n':
        fputs("\\n", out);
        return;
    case '\t':
        fputs("\\t", out);
        return;
    default:
        fprintf(out, "\\u%04x", (unsigned char)*at);
    }
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '<';
}

/* A sequence that `end` cuts off is no sequence: the text's own NUL, or this check, ends it. */
static size_t sequence(const char *at, const char *end)
{
    char copy[5] = {0};
    size_t left = (size_t)(end - at);
    memcpy(copy, at, left < 4 ? left : 4);
    return wi_utf8_length(copy);
}

static void put_string(FILE *out, const char *text, size_t length)
{
    const char *end = text + length;
    putc('"', out);
    while (text < end) {
        const char *from = text;
        while (text < end && is_plain((unsigned char)*text))
            text++;
        if (text > from)
            fwrite(from, 1, (size_t)(text - from), out);
        if (text == end)
            break;
        size_t n = sequence(text, end);
        if (n == 0)
            fputs("\xef\xbf\xbd", out);
        else if (n == 1)
            put_escaped(out, text);
        else
            fwrite(text, 1, n, out);
        text += n > 0 ? n : 1;
    }
    putc('"', out);
}

static void begin(struct wi_json_out *json, const char *key)
{
    if (json->more[json->depth])
        putc(',', json->out);
    json->more[json->depth] = true;
    if (key != NULL) {
        put_string(json->out, key, strlen(key));
        putc(':', json->out);
    }
}

static void open_level(struct wi_json_out *json, const char *key, char bracket)
{
    begin(json, key);
    putc(bracket, json->out);
    if (json->depth + 1 < WI_JSON_DEPTH)
        json->depth++;
    json->more[json->depth] = false;
}

static void close_level(struct wi_json_out *json, char bracket)
{
    json->depth--;
    putc(bracket, json->out);
    if (json->depth <= 2)
        putc('\n', json->out);
}

void wi_out_object(struct wi_json_out *json, const char *key)
{
    open_level(json, key, '{');
}

void wi_out_end_object(struct wi_json_out *json)
{
    close_level(json, '}');
}

void wi_out_array(struct wi_json_out *json, const char *key)
{
    open_level(json, key, '[');
}

void wi_out_end_array(struct wi_json_out *json)
{
    close_level(json, ']');
}

void wi_out_text_n(struct wi_json_out *json, const char *key, const char *text, size_t length)
{
    begin(json, key);
    put_string(json->out, text, length);
}

void wi_out_text(struct wi_json_out *json, const char *key, const char *text)
{
    if (text == NULL)
        wi_out_null(json, key);
    else
        wi_out_text_n(json, key, text, strlen(text));
}

void wi_out_integer(struct wi_json_out *json, const char *key, int64_t value)
{
    begin(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void wi_out_count(struct wi_json_out *json, const char *key, uint64_t value)
{
    begin(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void wi_out_index(struct wi_json_out *json, const char *key, uint32_t value)
{
    if (value == WI_NONE)
        wi_out_null(json, key);
    else
        wi_out_count(json, key, value);
}

void wi_out_real(struct wi_json_out *json, const char *key, double value)
{
    begin(json, key);
    if (!isfinite(value)) {
        fputs("null", json->out);
        return;
    }
    char digits[40];
    snprintf(digits, sizeof digits, "%.10g", value);
    for (char *at = digits; *at != '\0'; at++)
        if (*at == ',')
            *at = '.'; /* some locales */
    fputs(digits, json->out);
}

void wi_out_ms(struct wi_json_out *json, const char *key, uint64_t ns)
{
    begin(json, key);
    uint64_t rest = ns % 1000000;
    fprintf(json->out, "%" PRIu64, ns / 1000000);
    if (rest != 0)
        fprintf(json->out, ".%06" PRIu64, rest);
}

void wi_out_flag(struct wi_json_out *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->out);
}

void wi_out_null(struct wi_json_out *json, const char *key)
{
    begin(json, key);
    fputs("null", json->out);
}
