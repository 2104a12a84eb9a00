/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON and protocol buffers written as they come. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/records.h"
#include "tests/lib/unit.h"
#include "viewer-export/export/json_out.h"
#include "viewer-export/export/protobuf.h"

static char *written;
static size_t n_written;

static struct wi_json_out begin(void)
{
    struct wi_json_out json = {.out = open_memstream(&written, &n_written)};
    ck_assert_ptr_nonnull(json.out);
    return json;
}

static json_t *finish(struct wi_json_out *json)
{
    fclose(json->out);
    json_t *value = json_loads(written, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(value != NULL, "no JSON: %s", written);
    return value;
}

START_TEST(any_bytes_become_a_string_that_parsers_accept)
{
    char bytes[3];
    for (int first = 1; first < 256; first++) {
        for (int second = 0; second < 256; second += 5) {
            bytes[0] = (char)first;
            bytes[1] = (char)second;
            bytes[2] = '\0';
            struct wi_json_out json = begin();
            wi_out_text(&json, NULL, bytes);
            json_t *value = finish(&json);
            ck_assert(json_is_string(value));
            json_decref(value);
            ck_assert_ptr_null(strchr(written, '<'));
            free(written);
        }
    }
}
END_TEST

START_TEST(a_sequence_cut_by_the_length_is_replaced)
{
    struct wi_json_out json = begin();
    wi_out_text_n(&json, NULL, "a\xe2\x82\xac", 3);
    json_t *value = finish(&json);
    ck_assert_str_eq(json_string_value(value), "a\xef\xbf\xbd\xef\xbf\xbd");
    json_decref(value);
    free(written);
}
END_TEST

START_TEST(numbers_are_exact_and_what_is_none_is_null)
{
    struct wi_json_out json = begin();
    wi_out_array(&json, NULL);
    wi_out_ms(&json, NULL, 1000001);
    wi_out_ms(&json, NULL, UINT64_C(5000000));
    wi_out_real(&json, NULL, NAN);
    wi_out_real(&json, NULL, 0.1);
    wi_out_index(&json, NULL, WI_NONE);
    wi_out_end_array(&json);
    json_decref(finish(&json));
    ck_assert_str_eq(written, "[1.000001,5,null,0.1,null]\n");
    free(written);
}
END_TEST

START_TEST(members_and_entries_are_separated)
{
    struct wi_json_out json = begin();
    wi_out_object(&json, NULL);
    wi_out_array(&json, "a");
    wi_out_object(&json, NULL);
    wi_out_end_object(&json);
    wi_out_flag(&json, NULL, true);
    wi_out_end_array(&json);
    wi_out_text(&json, "b", NULL);
    wi_out_end_object(&json);
    json_t *value = finish(&json);
    ck_assert_uint_eq(json_array_size(json_object_get(value, "a")), 2);
    ck_assert(json_is_null(json_object_get(value, "b")));
    json_decref(value);
    free(written);
}
END_TEST

START_TEST(fields_of_a_message_are_as_the_specification_has_them)
{
    struct wi_proto message = {0}, inner = {0};
    wi_proto_number(&message, 1, 150); /* the specification's own example */
    wi_proto_number(&message, 2, 0);
    wi_proto_bytes(&message, 3, "", 0);
    wi_proto_element(&message, 3, "", 0);
    wi_proto_pack(&inner, 3);
    wi_proto_pack(&inner, 270);
    wi_proto_message(&message, 4, &inner);
    static const unsigned char expected[] = {0x08, 0x96, 0x01, 0x1a, 0x00, 0x22, 0x03, 0x03, 0x8e, 0x02};
    ck_assert_uint_eq(message.length, sizeof expected);
    ck_assert_mem_eq(message.bytes, expected, sizeof expected);
    wi_proto_clear(&inner);
    wi_proto_pack(&inner, UINT64_MAX);
    ck_assert_uint_eq(inner.length, 10);
    wi_proto_free(&message);
    wi_proto_free(&inner);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("export writers");
    TCase *tests = tcase_create("writers");
    tcase_add_test(tests, any_bytes_become_a_string_that_parsers_accept);
    tcase_add_test(tests, a_sequence_cut_by_the_length_is_replaced);
    tcase_add_test(tests, numbers_are_exact_and_what_is_none_is_null);
    tcase_add_test(tests, members_and_entries_are_separated);
    tcase_add_test(tests, fields_of_a_message_are_as_the_specification_has_them);
    suite_add_tcase(suite, tests);
    return wi_unit_run(suite);
}
