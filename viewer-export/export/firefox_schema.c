/* SPDX-License-Identifier: BSD-2-Clause */
/* What the front end has to know of our categories and markers. */
#include "viewer-export/export/firefox.h"

void wi_ff_write_categories(struct wi_firefox *firefox)
{
    static const struct {
        const char *name, *color;
    } categories[] = {
        [WI_FF_OTHER] = {"Other", "grey"},       [WI_FF_IN_SCOPE] = {"In scope", "yellow"},
        [WI_FF_LIBRARY] = {"Library", "orange"}, [WI_FF_IDLE] = {"Idle", "transparent"},
        [WI_FF_CAUSAL] = {"Causal", "purple"},   [WI_FF_DELAY] = {"Inserted delay", "red"},
    };
    struct wi_json_out *json = &firefox->json;
    wi_out_array(json, "categories");
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        wi_out_object(json, NULL);
        wi_out_text(json, "name", categories[i].name);
        wi_out_text(json, "color", categories[i].color);
        wi_out_array(json, "subcategories");
        wi_out_text(json, NULL, "Other");
        wi_out_end_array(json);
        wi_out_end_object(json);
    }
    wi_out_end_array(json);
}

struct field {
    const char *key, *label, *format; /* no label: hidden; format "table": the columns follow */
    const char *columns[6];
};

struct schema {
    const char *name, *description;
    const char *chart, *table, *tooltip; /* labels; NULL: none */
    const char *color_field;
    const char *display[4];
    struct field fields[16];
    struct {
        const char *key, *type, *color;
    } graph;
};

static const struct schema schemas[] = {
    {.name = "Delay",
     .description =
         "A pause that whatif inserted: not the program's own. It stands for other code being faster.",
     .display = {"marker-chart", "marker-table"}},
    {.name = "CausalExperiment",
     .description =
         "One experiment: with the unit as much faster as said, and everything else delayed to that end.",
     .chart = "{marker.data.unit} @ {marker.data.speedupText}",
     .table = "{marker.data.unit} @ {marker.data.speedupText}: {marker.data.rateText}",
     .tooltip = "{marker.data.kind}: {marker.data.unit} @ {marker.data.speedupText}",
     .color_field = "color",
     .display = {"marker-chart", "marker-table", "timeline-overview"},
     .fields = {{"unit", "Unit", "unique-string", {NULL}},
                {"kind", "Kind", "string", {NULL}},
                {"speedup", "Speedup of the unit", "percentage", {NULL}},
                {"speedupText", "Speedup, exactly", "string", {NULL}},
                {"status", "Counts", "string", {NULL}},
                {"effective", "Effective time", "duration", {NULL}},
                {"delay", "Delay inserted", "duration", {NULL}},
                {"rate", "Visits per second of effective time", "decimal", {NULL}},
                {"rateText", "Visits per second, exactly", "string", {NULL}},
                {"gain", "Gain at this speedup, all experiments", "string", {NULL}},
                {"samples", "Samples", "integer", {NULL}},
                {"hits", "Samples in the unit", "integer", {NULL}},
                {"pauses", "Pauses", "integer", {NULL}},
                {"points", "Progress points", "table", {"Progress point", "Visits", "Per second"}},
                {"color", NULL, "string", {NULL}}}},
    {.name = "CausalThroughput",
     .description = "Visits of a progress point per second of effective time.",
     .display = {NULL},
     .fields = {{"rate", "Visits per second", "decimal", {NULL}}},
     .graph = {"rate", "line-filled", "green"}},
    {.name = "CausalSpeedup",
     .description = "How much faster the selected unit is assumed to be, in percent.",
     .display = {NULL},
     .fields = {{"speedup", "Speedup in percent", "decimal", {NULL}}},
     .graph = {"speedup", "bar", "purple"}},
    {.name = "CausalResult",
     .description =
         "What the run says of one unit at one progress point. A gain is the share of the time per visit "
         "that would be saved.",
     .chart = "{marker.data.unit}: {marker.data.maxGainText}",
     .table = "{marker.data.point}: {marker.data.unit}: {marker.data.maxGainText}",
     .tooltip = "{marker.data.unit} for {marker.data.point}",
     .color_field = "color",
     .display = {"marker-chart", "marker-table", "timeline-overview"},
     .fields = {{"unit", "Unit", "unique-string", {NULL}},
                {"point", "Progress point", "unique-string", {NULL}},
                {"kind", "Kind of unit", "string", {NULL}},
                {"maxGain", "Largest gain", "percentage", {NULL}},
                {"maxGainText", "Largest gain, with interval", "string", {NULL}},
                {"slope", "Gain per percent of speedup, at the beginning", "string", {NULL}},
                {"share", "Share of samples", "string", {NULL}},
                {"bound", "Share of time with a thread inside", "string", {NULL}},
                {"experiments", "Experiments", "integer", {NULL}},
                {"status", "Decided", "string", {NULL}},
                {"curve", "Curve", "table", {"Speedup", "Gain", "Fitted", "Experiments", "Visits"}},
                {"color", NULL, "string", {NULL}}}},
};

static void write_format(struct wi_json_out *json, const struct field *field)
{
    if (field->columns[0] == NULL) {
        wi_out_text(json, "format", field->format);
        return;
    }
    wi_out_object(json, "format");
    wi_out_text(json, "type", field->format);
    wi_out_array(json, "columns");
    for (size_t i = 0; i < 6 && field->columns[i] != NULL; i++) {
        wi_out_object(json, NULL);
        wi_out_text(json, "type", "string");
        wi_out_text(json, "label", field->columns[i]);
        wi_out_end_object(json);
    }
    wi_out_end_array(json);
    wi_out_end_object(json);
}

static void write_fields(struct wi_json_out *json, const struct schema *schema)
{
    wi_out_array(json, "fields");
    for (size_t i = 0; i < 16 && schema->fields[i].key != NULL; i++) {
        const struct field *field = &schema->fields[i];
        wi_out_object(json, NULL);
        wi_out_text(json, "key", field->key);
        if (field->label != NULL)
            wi_out_text(json, "label", field->label);
        else
            wi_out_flag(json, "hidden", true);
        write_format(json, field);
        wi_out_end_object(json);
    }
    wi_out_end_array(json);
}

static void write_optional(struct wi_json_out *json, const char *key, const char *text)
{
    if (text != NULL)
        wi_out_text(json, key, text);
}

static void write_schema(struct wi_json_out *json, const struct schema *schema)
{
    wi_out_object(json, NULL);
    wi_out_text(json, "name", schema->name);
    wi_out_text(json, "description", schema->description);
    wi_out_array(json, "display");
    for (size_t i = 0; i < 4 && schema->display[i] != NULL; i++)
        wi_out_text(json, NULL, schema->display[i]);
    wi_out_end_array(json);
    write_optional(json, "chartLabel", schema->chart);
    write_optional(json, "tableLabel", schema->table);
    write_optional(json, "tooltipLabel", schema->tooltip);
    write_optional(json, "colorField", schema->color_field);
    write_fields(json, schema);
    if (schema->graph.key != NULL) {
        wi_out_array(json, "graphs");
        wi_out_object(json, NULL);
        wi_out_text(json, "key", schema->graph.key);
        wi_out_text(json, "type", schema->graph.type);
        wi_out_text(json, "color", schema->graph.color);
        wi_out_end_object(json);
        wi_out_end_array(json);
    }
    wi_out_end_object(json);
}

void wi_ff_write_marker_schema(struct wi_firefox *firefox)
{
    wi_out_array(&firefox->json, "markerSchema");
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        write_schema(&firefox->json, &schemas[i]);
    wi_out_end_array(&firefox->json);
}
