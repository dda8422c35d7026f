/* unload LIBRARY: a program that loads libnpgnn with dlopen(), uses it on several threads and unloads it again: no
 * thread is left that would run code that is no longer there. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "npgnn/npgnn.h"

typedef int make_fn(npgnn_graph **out, const char *spec, const npgnn_env *env, npgnn_error *err);
typedef void free_fn(npgnn_graph *graph);

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    while (tasks && readdir(tasks))
        count++;
    if (tasks)
        closedir(tasks);
    return count;
}

/* Loads, uses and unloads the library; returns what is wrong, or NULL. */
static const char *load_and_unload(const char *path, int threads_before)
{
    npgnn_env env = {.size = sizeof env, .threads = 4};
    npgnn_graph *graph = NULL;
    make_fn *make;
    free_fn *discard;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
    if (!library)
        return dlerror();
    symbol = dlsym(library, "npgnn_graph_synthetic");
    memcpy(&make, &symbol, sizeof make);
    symbol = dlsym(library, "npgnn_graph_free");
    memcpy(&discard, &symbol, sizeof discard);
    if (!make || !discard || make(&graph, "nodes=20000", &env, NULL) != 0)
        return "no graph";
    discard(graph);
    if (count_threads() <= threads_before)
        return "it did not start threads: this test shows nothing";
    if (dlclose(library) != 0)
        return dlerror();
    if (dlopen(path, RTLD_NOW | RTLD_NOLOAD))
        return "the library is still loaded";
    return count_threads() == threads_before ? NULL : "threads are left";
}

int main(int argc, char **argv)
{
    int threads = count_threads();
    for (int i = 0; argc > 1 && i < 20; i++) {
        const char *wrong = load_and_unload(argv[1], threads);
        if (wrong) {
            fprintf(stderr, "round %d: %s\n", i, wrong);
            return 1;
        }
    }
    return argc > 1 ? 0 : 2;
}
