#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "picture.h"
#include "report.h"
#include "say.h"

/* page.html, with a terminating zero; Meson makes it. */
extern const unsigned char page_template[];

/* Where the data goes in it. */
static const char MARK[] = "/*DATA*/";

/* The picture of one data set, or NULL where its model is missing: the page then goes without. */
static json_t *draw_dataset(const cli_plan *plan, const plan_dataset *dataset, const npgnn_env *env)
{
    npgnn_graph *graph = NULL;
    npgnn_model *model = NULL;
    char path[PLAN_PATH];
    json_t *picture = NULL;
    plan_model_path(path, plan, dataset);
    if (npgnn_model_load(&model, path, env, NULL) == 0 &&
        settings_load(&graph, plan->settings, dataset->data, env) == 0)
        picture = picture_embedding(model, graph, env);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
    return picture;
}

static void add_pictures(json_t *results, const cli_plan *plan, const npgnn_env *env)
{
    json_t *pictures = json_object();
    for (int d = 0; d < plan->dataset_count; d++) {
        json_t *picture = draw_dataset(plan, &plan->datasets[d], env);
        if (picture)
            json_object_set_new(pictures, plan->datasets[d].name, picture);
    }
    json_object_set_new(results, "pictures", pictures);
}

/* JSON inside a script element: a "<" in a name could end the element, "\u003c" cannot. */
static void write_data(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("\\u003c", out);
        else
            fputc(*text, out);
    }
}

int page_write(json_t *results, const cli_plan *plan, const char *path, const npgnn_env *env)
{
    const char *template = (const char *)page_template;
    const char *mark = strstr(template, MARK);
    cli_output out;
    add_pictures(results, plan, env);
    char *text = json_dumps(results, JSON_COMPACT | JSON_REAL_PRECISION(7));
    json_decref(results);
    if (!text)
        return say_error("out of memory");
    int status = output_open(&out, path);
    if (status == 0) {
        fwrite(template, 1, (size_t)(mark - template), out.file);
        write_data(out.file, text);
        fputs(mark + strlen(MARK), out.file);
        status = output_commit(&out);
    }
    free(text);
    return status;
}
