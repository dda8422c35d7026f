/* npgnn: link prediction with Neural Processes for Graph Neural Networks.
 *
 * This header is the manual. It has four parts, each usable without the ones below it:
 *
 *   1. Conventions   errors, structs that can grow, environment (threads, memory, progress), options
 *   2. One-shot      load, fit, predict, evaluate: a whole job in one call
 *   3. Handles       graph, split, trainer, model, predictor: the same jobs, step by step
 *   4. Expert        metrics and the all-pairs loss on their own
 *
 * The shortest useful program (examples/quick.c):
 *
 *   npgnn_graph *graph = NULL;
 *   npgnn_model *model = NULL;
 *   npgnn_error err = {0};
 *   npgnn_pair pair = {3, 17};
 *   npgnn_prediction link;
 *   if (npgnn_load(&graph, "synthetic", NULL, NULL, &err) == 0 &&
 *       npgnn_fit(&model, graph, NULL, NULL, &err) == 0 &&
 *       npgnn_predict(&link, model, graph, &pair, 1, NULL, NULL, &err) == 0)
 *       printf("%g\n", link.probability);
 *   else
 *       fprintf(stderr, "%s\n", err.text);
 *   npgnn_model_free(model);
 *   npgnn_graph_free(graph);
 *
 * Rules for every function:
 *  - A function that can fail returns 0 or a negative NPGNN_E_* code and describes the failure in the caller's
 *    npgnn_error, which may be NULL. On failure, outputs are untouched and nothing leaks.
 *  - Arguments come in the order outputs, inputs, sizes, options, environment, error. NULL options or a NULL
 *    environment mean the defaults.
 *  - Every X_free accepts NULL.
 *  - The library never prints and never exits. Handles are independent: two threads may use two handles at once,
 *    and may share one const handle.
 *  - No result depends on hidden state. The process-wide state that there is concerns speed and memory alone: a pool
 *    of POSIX threads, which is started when it is first needed and lives until the library is unloaded; and BLAS and
 *    ARPACK, which are loaded when they are first needed. With OpenBLAS's pthread build,
 *    openblas_set_num_threads() applies to the whole process: while a call of this library multiplies, the number
 *    is 1, then it is again what it was.
 *  - A child of fork() may use the library, and the handles it has inherited, except those that another thread of the
 *    parent was changing at the moment of the fork. It gets a pool of its own. If other threads of the parent were
 *    inside a call, what that call had allocated is never freed in the child, and OpenBLAS's own locks are beyond the
 *    library's control: fork before starting such threads where you can. A callback must not fork.
 *  - The same data, options and seed give the same bits for any number of threads and processes, with the same build
 *    of the library, the same version of OpenBLAS (and ARPACK, for spectral embeddings) and the same kernels. The
 *    library and OpenBLAS choose kernels by the instruction set of the processor, unless the environment names them
 *    (NPGNN_KERNELS, OPENBLAS_CORETYPE): another processor model, or another version, may round differently, and
 *    training amplifies that. A checkpoint records the kernels, and resuming with others logs a warning. Splits are the
 *    same everywhere. */
#ifndef NPGNN_H
#define NPGNN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NPGNN_API __attribute__((visibility("default")))
#else
#define NPGNN_API
#endif

/* The version of this header, as numbers and as text. The build reads it here (tools/version.sh). */
#define NPGNN_VERSION_MAJOR 0
#define NPGNN_VERSION_MINOR 1
#define NPGNN_VERSION_PATCH 0
#define NPGNN_VERSION "0.1.0"

/* The version of the library that is linked, which may be newer than NPGNN_VERSION. */
NPGNN_API const char *npgnn_version(void);

/* ================================================================================================================
 * 1. Conventions
 * ============================================================================================================= */

/* ---- Errors -------------------------------------------------------------------------------------------------- */

/* X(name, value, meaning) */
#define NPGNN_ERRORS(X)                                                                                                \
    X(OK, 0, "success")                                                                                                \
    X(E_MEMORY, -1, "out of memory")                                                                                   \
    X(E_IO, -2, "a file cannot be opened, read or written")                                                            \
    X(E_FORMAT, -3, "a file is malformed")                                                                             \
    X(E_ARGUMENT, -4, "an argument or option is out of range")                                                         \
    X(E_MISMATCH, -5, "two inputs do not belong together")                                                             \
    X(E_DIVERGED, -6, "training or a prediction met a number that is not finite")                                      \
    X(E_CANCELLED, -7, "cancelled by the caller")

typedef enum npgnn_code {
#define NPGNN_X(name, value, meaning) NPGNN_##name = value,
    NPGNN_ERRORS(NPGNN_X)
#undef NPGNN_X
} npgnn_code;

/* What went wrong. `text` is a complete sentence for a person; it already names the file and line, if there are any. */
typedef struct npgnn_error {
    int code;       /* one of npgnn_code */
    int64_t line;   /* line in `file`, 0 if lines do not apply */
    char file[256]; /* the file at fault, "" if there is none */
    char text[768];
} npgnn_error;

/* The meaning of a code; never NULL. */
NPGNN_API const char *npgnn_code_text(int code);

/* ---- Structs that can grow -------------------------------------------------------------------------------------- */

/* A struct whose first member is `size` may gain members at its end in a later version. A program sets size before it
 * passes the struct to any call, so that the library knows which version the program was compiled against:
 *
 *   npgnn_env env = {.size = sizeof env, .threads = 4};
 *
 * A call reads or writes at most `size` bytes; members that the program does not know have their defaults. A size of 0
 * is refused with E_ARGUMENT. In an array of such structs, the size of the first element counts for all. Structs
 * without `size` never change. */

/* ---- Environment --------------------------------------------------------------------------------------------- */

/* One function does everything: size 0 frees `block` and returns NULL; block NULL allocates; otherwise it resizes. It
 * must return memory aligned for any type, or NULL on failure, in which case `block` stays valid. It is called from one
 * thread at a time per handle; for a handle that several threads share, from any of them at once. */
typedef struct npgnn_allocator {
    void *(*resize)(void *user, void *block, size_t size);
    void *user;
} npgnn_allocator;

/* The steps of a training iteration, X(name, text). */
#define NPGNN_STEP_LIST(X)                                                                                             \
    X(CONTEXT, "context")                                                                                              \
    X(FEATURES, "features")                                                                                            \
    X(ENCODER, "encoder")                                                                                              \
    X(DECODER, "decoder")                                                                                              \
    X(PAIRS, "pairs, forward and backward")                                                                            \
    X(DECODER_BACK, "decoder backward")                                                                                \
    X(ENCODER_BACK, "encoder backward")                                                                                \
    X(FEATURES_BACK, "features backward")                                                                              \
    X(ADAM, "Adam")                                                                                                    \
    X(VALIDATION, "validation")

typedef enum npgnn_step {
#define NPGNN_X(name, text) NPGNN_STEP_##name,
    NPGNN_STEP_LIST(NPGNN_X)
#undef NPGNN_X
        NPGNN_STEPS /* how many there are */
} npgnn_step;
enum { NPGNN_MAX_STEPS = 16 };

/* The name of a step; never NULL. */
NPGNN_API const char *npgnn_step_name(npgnn_step step);

/* The state of a job, passed to the progress callback after every iteration. Values that are not known yet are NaN. */
typedef struct npgnn_progress {
    size_t size;
    int run, runs; /* which training of how many: the seeds of an evaluation; 0 of 1 for a single fit */
    int rehearsal; /* 1: a first training that holds out links. The one that counts follows, unless it is not worth it (best).
                      Iterations and seconds begin anew with every training */
    int iteration, iterations; /* iterations done, and requested */
    int validated;             /* 1 if val_auc and val_ap were measured at this iteration */
    int best_iteration;        /* where the best validation so far was measured; 0 before the first */
    double loss;               /* reconstruction + KL */
    double kl;
    double val_auc, val_ap;               /* of the latest validation */
    double seconds;                       /* spent in this training */
    double step_seconds[NPGNN_MAX_STEPS]; /* of those, in each step */
} npgnn_progress;

/* Return non-zero to cancel: the running call stops with NPGNN_E_CANCELLED and keeps what it has. */
typedef int npgnn_progress_fn(void *user, const npgnn_progress *progress);

/* A notice for people, without a trailing newline: what was merged, skipped or assumed. */
typedef void npgnn_log_fn(void *user, const char *message);

typedef struct npgnn_comm npgnn_comm; /* processes that work on one job, below */

/* How to run. Handles copy it when they are created. */
typedef struct npgnn_env {
    size_t size;
    int threads; /* 0: npgnn_cores() */
    npgnn_progress_fn *progress;
    npgnn_log_fn *log;
    void *user; /* passed to progress and log */
    /* NULL, or where a signal handler or another thread writes 1 to cancel at once, in the middle of an iteration */
    const volatile int *stop;
    npgnn_allocator allocator; /* resize NULL: malloc */
    npgnn_comm *comm;          /* the processes that share this job; NULL: this process alone */
} npgnn_env;

/* Number of cores that this process may use: those of its affinity mask, but no more than the CPU quota of its control
 * group grants, as in a container. At least 1. */
NPGNN_API int npgnn_cores(void);

/* ---- Several processes ----------------------------------------------------------------------------------------- */

/* Joins the processes that mpirun has started together with this one, over MPI (docs/use/scale.md). All of them make
 * the same calls in the same order, and pass the communicator in npgnn_env.comm. These calls divide their work among
 * the processes, and all processes get all results:
 *
 *     npgnn_trainer_*, npgnn_fit    the nodes or, of the preset best, its folds
 *     npgnn_pretrain                the tasks
 *     npgnn_predict*, npgnn_test    the pairs, or the nodes that are searched; of universal and best, all nodes. But
 *                                   npgnn_predictor_explain works alone, with what npgnn_predictor_gather has gathered
 *     npgnn_evaluate                the seeds; `scores` is called in the process that has run the seed
 *
 * Every other call works in each process alone. Opened once per process; npgnn_comm_free comes after all handles that
 * use it, in all processes. E_IO where the library was built without MPI. */
NPGNN_API int npgnn_comm_open(npgnn_comm **out, const npgnn_env *env, npgnn_error *err);
NPGNN_API void npgnn_comm_free(npgnn_comm *comm);

/* The same with threads of this process in place of processes, for tests, and to see what several machines would
 * exchange: out[r] is for the thread that is process r. They can share the graph, and nothing else of this library.
 * Freed one by one. E_ARGUMENT unless ranks are from 1 to 4096. */
NPGNN_API int npgnn_comm_simulate(npgnn_comm **out /* (ranks) */, int ranks, const npgnn_env *env, npgnn_error *err);

typedef struct npgnn_comm_info {
    size_t size;
    int rank, ranks;         /* this process, from 0, of how many */
    int local;               /* how many of them are on this machine */
    uint64_t sent, received; /* bytes, by this process so far */
} npgnn_comm_info;

/* NULL describes a process alone. */
NPGNN_API int npgnn_comm_describe(npgnn_comm_info *info, const npgnn_comm *comm, npgnn_error *err);

/* For what a process does alone and may fail at, such as reading a file: all processes call this with their own code.
 * Returns the code of the first process that has one, whose message becomes that of all: "process 2 of 4: ...". With a
 * comm of NULL, `code`. */
NPGNN_API int npgnn_comm_agree(npgnn_comm *comm, int code, npgnn_error *err);

/* For what all processes must have been given alike, such as a setting: all processes call this with their own value or
 * hash. E_MISMATCH in all of them, where one has another value than process 0; the message names that process and
 * `what`, such as "the list of seeds". With a comm of NULL, 0. */
NPGNN_API int npgnn_comm_same(npgnn_comm *comm, uint64_t value, const char *what, npgnn_error *err);

/* ---- Options of the model and its training ----------------------------------------------------------------- */

/* Each option controls one step of the model (docs/understand/math.md has the equations) and is one key for
 * npgnn_options_set and for the command line. The paper and its authors' program differ in several of them; the presets
 * say which side each takes.
 *
 * Options are input only. What training finds (weights, calibration, the number of iterations) is in the model. */

typedef enum { NPGNN_LINEAR, NPGNN_RELU, NPGNN_SIGMOID } npgnn_activation;
typedef enum { NPGNN_VECTOR, NPGNN_SCALAR } npgnn_aggregate;
typedef enum { NPGNN_MEAN_LOG, NPGNN_LOG_MEAN } npgnn_sigma_mean;
typedef enum { NPGNN_MC_LIKELIHOOD, NPGNN_MC_EMBEDDING } npgnn_monte_carlo;
typedef enum { NPGNN_WEIGHTED, NPGNN_PLAIN } npgnn_likelihood;
typedef enum { NPGNN_CONTEXT_EDGES, NPGNN_CONTEXT_NODES, NPGNN_CONTEXT_AUTO } npgnn_context;
typedef enum { NPGNN_LR_CONSTANT, NPGNN_LR_LINEAR, NPGNN_LR_COSINE } npgnn_lr_schedule;
typedef enum { NPGNN_LOSS_EXACT, NPGNN_LOSS_SAMPLED, NPGNN_LOSS_AUTO } npgnn_loss;

typedef struct npgnn_options {
    size_t size;
    /* The kind of model. 1: tune the process that was learnt across graphs, which uses iterations (passes over the pairs),
     * learning_rate, beta1, beta2, epsilon, seed, calibrate and predict_samples. 0: train a network, which uses them all */
    int process;
    /* encoder */
    int latent;        /* 1: use the latent z; 0: train the decoder alone */
    int sample_latent; /* 1: a neural process; 0: a conditional one, whose z is the context's mean, without KL */
    int hidden;        /* width of the first encoder layer */
    int latent_size;   /* width d of z */
    npgnn_activation encoder_output; /* second encoder layer: linear or relu */
    npgnn_aggregate aggregate;       /* vector: mean over nodes; scalar: mean over nodes and dimensions */
    npgnn_sigma_mean sigma_mean;     /* mean-log: exp(mean of log sigma); log-mean: mean of sigma */
    double sigma_start;              /* initial scale of sigma */
    npgnn_context context;   /* what a context is a random share of: edges, nodes, or auto: nodes for splits that
                                hold out nodes, edges otherwise */
    double context_fraction; /* that share */
    /* decoder */
    int decoder_hidden;              /* width of the decoder's hidden layer */
    int output_size;                 /* width k of the node embeddings u */
    npgnn_activation decoder_output; /* linear, relu or sigmoid */
    double input_scale;              /* training behaves as if the features were multiplied by this; 0: such that their
                                        rows have a mean square length of 16 */
    double input_dropout;            /* share of the features hidden in each training iteration */
    /* objective */
    int samples;                   /* Monte Carlo samples of z per iteration */
    npgnn_monte_carlo monte_carlo; /* likelihood: average log-likelihoods; embedding: average u, then one likelihood */
    npgnn_likelihood likelihood;   /* weighted: edges and non-edges weigh the same; plain: sum over all pairs */
    double kl_weight;              /* factor of the KL term */
    npgnn_loss loss;               /* exact: all pairs; sampled: unbiased estimate; auto: exact up to 10,000 nodes */
    int pairs_per_node;            /* of the sampled loss */
    /* training */
    int iterations;
    double learning_rate, beta1, beta2, epsilon; /* Adam */
    npgnn_lr_schedule lr_schedule;               /* constant, or falling to 0 */
    int lr_horizon;                              /* iterations over which the rate falls; 0: all */
    uint64_t seed;
    int validate_every; /* iterations between validations */
    int keep_best;      /* 1: keep the model of the best validation; 0: that of the last iteration */
    int patience;       /* stop after this many validations without improvement; 0: never */
    int calibrate;      /* 1: calibrate probabilities on held-out links; 0: leave them uncalibrated */
    /* prediction */
    int predict_samples; /* 0: use the mean of z; otherwise average probabilities over so many draws, at most 1000 */
} npgnn_options;

/* Fills `options`, whose size is set, with a preset: "default" (the paper's model where the paper's text works), "best"
 * (the most accurate, chosen on validation data: docs/results/best.md), "paper-literal" (the paper's text to the
 * letter) or "authors" (the settings of the authors' released program). NULL is "default". E_ARGUMENT for another name.
 * npgnn_preset_info lists the presets; it returns 0 past the last. */
NPGNN_API int npgnn_preset_info(const char **name, const char **help, int index);
NPGNN_API int npgnn_options_preset(npgnn_options *options, const char *name, npgnn_error *err);

/* Sets or reads one option by its key, spelt as on the command line and in model files: "learning-rate", "0.01".
 * npgnn_options_get writes a terminated string, truncated to `size`. E_ARGUMENT for an unknown key or a bad value. */
NPGNN_API int npgnn_options_set(npgnn_options *options, const char *key, const char *value, npgnn_error *err);
NPGNN_API int npgnn_options_get(char *value, size_t size, const npgnn_options *options, const char *key,
                                npgnn_error *err);

/* The option with this index, to list them all; returns 0 past the last. The strings are static. */
typedef struct npgnn_option_info {
    const char *key, *values, *help; /* values: what it accepts, such as "linear|relu" or "1..4096" */
} npgnn_option_info;
NPGNN_API int npgnn_options_info(npgnn_option_info *info, int index);

/* 1 if a training with these options uses the option `key`; 0 if it has no effect beside the others, as most have none
 * where `process` is set, as pairs-per-node has none with an exact loss, and for an unknown key. Negative: an error
 * code. */
NPGNN_API int npgnn_options_uses(const npgnn_options *options, const char *key, npgnn_error *err);

/* ================================================================================================================
 * 2. One-shot calls
 * ============================================================================================================= */

typedef struct npgnn_graph npgnn_graph;     /* nodes, undirected edges, features */
typedef struct npgnn_split npgnn_split;     /* a graph divided into training, validation and test */
typedef struct npgnn_model npgnn_model;     /* parameters and what is needed to use them */
typedef struct npgnn_trainer npgnn_trainer; /* a training in progress */

typedef struct npgnn_pair {
    int32_t u, v; /* node indices, 0 .. nodes - 1 */
} npgnn_pair;

/* Whether the first line of a text file with columns is a header. */
typedef enum { NPGNN_HEADER_AUTO, NPGNN_HEADER_YES, NPGNN_HEADER_NO } npgnn_header;

/* How to read a graph. */
typedef struct npgnn_load_options {
    size_t size;
    const char *edges;    /* edge file; NULL: given by `data` */
    const char *features; /* feature file; NULL: given by `data` */
    const char *data_dir; /* where names are looked up; NULL: $NPGNN_DATA, then the XDG cache folder */
    int normalize;        /* 1: divide each feature row by its sum of magnitudes */
    int binarize;         /* 1: every non-zero feature becomes 1 (before normalising) */
    int weighted;         /* 1: links keep the weights that the files give them; 0: all weigh the same */
    /* columns of text files, by name or by number from 1; NULL: found by their names, otherwise by their places */
    const char *source, *target; /* the two ends of a link */
    const char *weight;          /* the weight of a link; implies `weighted` */
    const char *time;            /* when a link was made: a number or a date; NULL: links have no times */
    const char *id;              /* the node of a feature row */
    npgnn_header header;         /* of the edge file and of feature tables */
    int skip_bad_rows;           /* 1: leave out rows that cannot be used, and log how many; 0: E_FORMAT */
    const char *const *kinds;    /* (kind_count) "COLUMN:KIND": how a feature column is read; "*" is all */
    const char *const *ignored;  /* (ignored_count) feature columns that are not read */
    int32_t kind_count, ignored_count;
    /* how feature columns become numbers. NULL: by what is in them; "raw": they are numbers already; otherwise the text
     * of npgnn_graph_encoding or npgnn_model_encoding: as in that graph */
    const char *encoding;
    int bipartite;               /* 1: sources and targets are two kinds of nodes, whose ids have nothing in common */
    const char *target_features; /* bipartite: the feature file of the targets; `features` is that of the sources */
} npgnn_load_options;

/* The folders in which names are looked up if data_dir is NULL: $NPGNN_DATA, then npgnn in the XDG cache folder. Writes
 * the index-th as a terminated string; returns 0 past the last, and for one that is longer than `size`. */
NPGNN_API int npgnn_data_folder(char *path, size_t size, int index);

/* Reads a graph. `data` is "synthetic[:key=value,...]" (see npgnn_graph_synthetic), "debian-python" (a real graph that
 * is built in: Python libraries and which needs which), a folder, a file (edges, .npz, GraphML, JSON, .npg), a path
 * such as "dir/ind.cora" for Planetoid's set of files, or a name in the data folder; docs/use/formats.md describes
 * them. It may be NULL if options->edges is set. Nodes with names are numbered in the order of these, integers first,
 * not in that of the lines, on which the graph does not depend. E_IO, E_FORMAT (with file and line), E_MEMORY. */
NPGNN_API int npgnn_load(npgnn_graph **out, const char *data, const npgnn_load_options *options, const npgnn_env *env,
                         npgnn_error *err);

/* Trains on all edges of the graph. A first training, the rehearsal, holds out some of them to find what only held-out
 * links can tell: how to calibrate and, with keep_best, the number of iterations. A second training on all edges makes
 * the model. With options->process, it is the process that is tuned on the graph (docs/understand/process.md), which
 * needs no features and takes O(edges + nodes) operations, with a large constant. E_ARGUMENT, E_MEMORY, E_DIVERGED,
 * E_CANCELLED. O(iterations * n^2 * k) operations with the exact loss, O(iterations * (n * pairs_per_node * k +
 * features)) with the sampled one; O(n (h + k)) memory. */
NPGNN_API int npgnn_fit(npgnn_model **out, const npgnn_graph *graph, const npgnn_options *options, const npgnn_env *env,
                        npgnn_error *err);

/* The prediction for a pair of nodes. */
typedef struct npgnn_prediction {
    float probability; /* calibrated probability of a link (docs/use/predict.md); averaged over the draws */
    float spread;      /* standard deviation of the probability over the draws, 0 without draws */
    float low, high;   /* mean -+ 1.96 standard deviations of the log-odds over the draws, as probabilities;
                          without draws both equal `probability` */
    float score;       /* on a scale of its own (network: docs/understand/math.md, eq. (7)); averaged over the draws */
} npgnn_prediction;

typedef struct npgnn_predict_options {
    size_t size;
    int samples;      /* 0: use the mean of z; up to 1000: average over that many draws; -1, as with NULL options: the
                         model's predict_samples. A draw has a z of its own and, of a process, a calibration that was
                         learnt from a sample of the examples with replacement; where the process was not tuned, also
                         the few weights that it learns on the graph */
    uint64_t seed;    /* for the draws, and for the links that a process sets aside */
    double link_rate; /* expected share of links among the pairs asked about, at least 0 and below 1. It is also taken
                         for the share of links among all pairs that are not linked, unless it is far larger than that
                         can be: of those that score like links, this is what tells how many are. 0: as in the graph,
                         which says nothing about unlinked pairs; 0.5: ignore how rare links are */
    size_t memory;    /* bytes that a process may keep of the evidence of a graph with features (2.3 KB per node);
                         0: half of what the machine or its container has. A graph that needs more is answered from
                         less than half of it, in the same bits, but every call of npgnn_predictor_run then passes
                         over all nodes: give it as many pairs as there are. A search keeps it in any case. Several
                         processes divide the nodes: each one has, and keeps, the evidence of its own;
                         npgnn_predict, whose pairs are all known, takes 0 as 1 there. */
} npgnn_predict_options;

/* Predicts each of `count` pairs of nodes of `graph`, which may be another graph than the model was trained on if it
 * has the same feature columns (E_MISMATCH otherwise): the same names in any order if both have names, otherwise as
 * many columns. Its nodes need features, not edges. E_DIVERGED if the weights of the model or the features of the graph
 * are so large that a score might not be finite. To score many batches, use an npgnn_predictor. */
NPGNN_API int npgnn_predict(npgnn_prediction *out /* (count) */, const npgnn_model *model, const npgnn_graph *graph,
                            const npgnn_pair *pairs, size_t count, const npgnn_predict_options *options,
                            const npgnn_env *env, npgnn_error *err);

/* How to divide a graph; docs/use/evaluate.md describes the protocols. Fractions are of edges (transductive,
 * random-links, temporal) or of nodes (all others); a negative fraction is the protocol's default: of edges 10 % test and
 * 5 % validation edges; inductive 5 % test and 2.5 % validation nodes; few-shot 30 % training nodes, the rest test;
 * inductive-hidden 10 % and 10 % of the nodes; production 10 % and 5 % of the nodes, half of whose links are known at
 * prediction time. Links and non-links of a held-out set are drawn from the same pairs, in which no node betrays by
 * having lost its links that it has one to find. */
typedef enum {
    NPGNN_TRANSDUCTIVE, /* links whose ends keep others: fewer than asked for in very sparse graphs */
    NPGNN_INDUCTIVE,
    NPGNN_FEW_SHOT,
    NPGNN_INDUCTIVE_HIDDEN, /* only links between two new nodes */
    NPGNN_PRODUCTION,       /* new nodes arrive with some of their links */
    NPGNN_TEMPORAL,         /* train on the past, test on the latest links (npgnn_load_options.time) */
    /* Inductive and few-shot with the negatives of the paper's authors: any two nodes, although every link touches a
     * new node. To repeat the paper's tables only: on a random graph they do not give an AUC and AP of 1/2. */
    NPGNN_PAPER_INDUCTIVE,
    NPGNN_PAPER_FEW_SHOT,
    /* The field's usual split: any links, and non-links of any nodes, although a node without training links betrays a
     * held-out one. To compare with published tables; npgnn_eval_run says what this is worth. */
    NPGNN_RANDOM_LINKS
} npgnn_protocol;
#define NPGNN_RATIO_FULL (-1.0)
typedef struct npgnn_split_options {
    size_t size;
    npgnn_protocol protocol;
    double test, val;   /* fractions */
    double train_nodes; /* few-shot: fraction of the nodes known in training */
    uint64_t seed;
    double negative_ratio; /* non-links per link of a held-out set, at least 1; NPGNN_RATIO_FULL: as rare as links
                              are in the graph; 0: 1 */
    double known_links;    /* production: fraction of a new node's links known at prediction time; negative: 0.5 */
} npgnn_split_options;

/* Fills `options`, whose size is set, with the defaults of a protocol. */
NPGNN_API int npgnn_split_options_default(npgnn_split_options *options, npgnn_protocol protocol, npgnn_error *err);

/* What a link is ranked against (docs/use/evaluate.md). Uniform: the non-links of the test set. Hard: in addition, 500
 * non-links of its own that resemble links. All: in addition, all nodes that an end of it is not linked to. */
typedef enum { NPGNN_NEGATIVES_UNIFORM, NPGNN_NEGATIVES_HARD, NPGNN_NEGATIVES_ALL } npgnn_negatives;

/* How well calibrated probabilities are (docs/use/predict.md). The non-links are a sample; they are weighted such that
 * links are a share of link_rate. */
typedef struct npgnn_bin {
    double pairs;               /* how many, by weight */
    double predicted, observed; /* mean probability, and share of links; NaN if unknown */
} npgnn_bin;

enum { NPGNN_BINS = 10, NPGNN_TOPS = 3 };

typedef struct npgnn_calibration {
    double link_rate;
    double ece;             /* expected calibration error: mean over pairs of |predicted - observed| in the pair's bin,
                               with NPGNN_BINS bins of equal width. Small wherever links are rare: see the next two */
    double balanced_ece;    /* the same for a link rate of 1/2 */
    double link_ece;        /* mean over links, with bins that have equally many links each */
    double log_loss, brier; /* means over pairs: -log of the probability of the truth, and the squared error */
    double skill; /* 1 - log_loss / (log loss of predicting link_rate for every pair): 0 knows nothing, 1 everything */
    npgnn_bin bins[NPGNN_BINS]; /* the reliability diagram: a tenth of the links each, highest probabilities first */
    npgnn_bin top[NPGNN_TOPS];  /* the 10, 100 and 1000 most likely pairs: `predicted` is their expected precision.
                                   `observed` is NaN if one sampled non-link stands for more than a tenth of them */
} npgnn_calibration;

/* The result of one seed. */
typedef struct npgnn_eval_run {
    size_t size;
    uint64_t seed, split_hash;
    int iterations;                                         /* trained */
    int best_iteration;                                     /* whose parameters were tested */
    double auc, ap;                                         /* on the test pairs, fractions of 1 */
    double mrr, hits1, hits10, hits100;                     /* each test link ranked against all test non-links */
    double hard_mrr, hard_hits1, hard_hits10, hard_hits100; /* against hard non-links of its own, NaN without them */
    double val_auc, val_ap;                                 /* on the validation pairs, NaN without any */
    /* 95 % bootstrap intervals, low and high, of the mean over the seeds so far: those of the last run are the
     * evaluation's. NaN without bootstrap. */
    double auc_interval[2], ap_interval[2];
    npgnn_calibration calibration; /* at the link rate of the test pairs; NaN for methods without probabilities */
    double train_seconds;
    double degree_auc; /* AUC against non-links whose ends are ends of test links; NaN in npgnn_test */
    /* each end of a test link: the rank of its partner among all nodes that the end is not linked to; NaN unless
     * negatives is NPGNN_NEGATIVES_ALL */
    double full_mrr, full_hits10;
    double full_mrr_se, full_hits10_se; /* standard errors, where the ends are a sample; 0 where all were ranked */
    double full_ends;                   /* how many ends were ranked */
    /* The shares of test links and of test non-links that touch a node without known links, and the AUC of that alone: 1/2
     * unless the protocol is random-links or one of the authors'. NaN from npgnn_test. */
    double emptied_links, emptied_non_links, emptied_auc;
    double test_links; /* how many there were: fewer than asked for in very sparse graphs */
    /* With the preset best: AUC and AP of universal on the same pairs, so that the difference is what tuning gained. NaN
     * otherwise. */
    double untuned_auc, untuned_ap;
} npgnn_eval_run;

/* Receives the scores of a seed's test pairs, `positives` links first. */
typedef void npgnn_scores_fn(void *user, const npgnn_eval_run *run, const float *scores, size_t positives,
                             size_t count);

typedef struct npgnn_eval_options {
    size_t size;
    const char *method;               /* one of npgnn_method_info; NULL: "npgnn" */
    const npgnn_options *model;       /* NULL: the default preset; its seed is ignored */
    const npgnn_split_options *split; /* NULL: transductive with its defaults; its seed is ignored */
    const npgnn_split *fixed;         /* use this split for every seed, or NULL */
    uint64_t first_seed;
    npgnn_scores_fn *scores; /* called after each seed, or NULL */
    void *scores_user;       /* passed to it */
    npgnn_negatives negatives;
    int bootstrap; /* resamples of the test pairs, for intervals; 0: none */
} npgnn_eval_options;

/* The index-th method; returns 0 past the last. The strings are static. */
NPGNN_API int npgnn_method_info(const char **name, const char **help, int index);

/* What a method uses of what it is given: a sum of these, 0 for an unknown name. With options.process, "npgnn" is the
 * process, which uses no weights. */
enum {
    NPGNN_USES_OPTIONS = 1,   /* npgnn_options; the others use their seed alone */
    NPGNN_USES_WEIGHTS = 2,   /* of links; for the others every link counts once */
    NPGNN_USES_ITERATIONS = 4 /* it is trained step by step, and reports its progress */
};
NPGNN_API int npgnn_method_uses(const char *method);

/* Splits, trains and tests once per seed. Seed s trains with model.seed = s on the split of seed s, unless `fixed` is
 * given. Results of finished seeds are valid even if the call is cancelled. */
NPGNN_API int npgnn_evaluate(npgnn_eval_run *runs /* (seeds) */, const npgnn_graph *graph, int seeds,
                             const npgnn_eval_options *options, const npgnn_env *env, npgnn_error *err);

/* ---- Transfer: how good is a model on a graph that it was not trained on? docs/understand/latent.md ---- */

/* Three ways to predict there. */
typedef enum {
    NPGNN_OLD_LATENT,   /* the model as it is */
    NPGNN_NEW_LATENT,   /* the model with z encoded from the known links of the new graph: npgnn_model_adapt */
    NPGNN_FROM_SCRATCH, /* a model trained on the known links of the new graph */
    NPGNN_TRANSFER_WAYS
} npgnn_transfer_way;

typedef struct npgnn_transfer_options {
    size_t size;
    const npgnn_options *model; /* of every training; NULL: the default preset; its seed is ignored */
    double train_nodes;         /* share of the nodes in the first subgraph, which is trained on; 0: 0.3 */
    double context_nodes;       /* share of the nodes in the second, which is tested on; 0: 0.7 */
    int grow;    /* 0: the subgraphs share no node; 1: the nodes of the first are among those of the second */
    double test; /* share of the second subgraph's links that are hidden and tested; 0: 0.1 */
    uint64_t first_seed;
} npgnn_transfer_options;

/* Divides the graph in two, trains on the first subgraph and tests on the second, once per seed; or, given a `model`,
 * tests that on the whole graph. No tested link is known to any of the ways. `shift` (may be NULL): how far the mean of
 * z moved, in its standard deviations (root mean square); NaN without latent. Results as for npgnn_evaluate. */
NPGNN_API int npgnn_transfer(npgnn_eval_run *runs /* (seeds, NPGNN_TRANSFER_WAYS) */, double *shift /* (seeds) */,
                             const npgnn_graph *graph, const npgnn_model *model, int seeds,
                             const npgnn_transfer_options *options, const npgnn_env *env, npgnn_error *err);

typedef struct npgnn_test_options {
    size_t size;
    npgnn_negatives negatives; /* uniform, or hard: in addition, 500 non-links per link that resemble links */
    double negative_ratio;     /* non-links drawn per link; 0: 1 */
    int keep_known;            /* 1: leave tested links in the graph */
    int samples;               /* as in npgnn_predict_options */
    uint64_t seed;             /* of draws and resamples */
    double link_rate;          /* at which calibration is measured; 0: the model's */
    int bootstrap;
} npgnn_test_options;

typedef struct npgnn_test_counts {
    size_t size;
    size_t links, non_links, drawn; /* tested; drawn: how many of the non-links the library drew */
    size_t known_links;             /* distinct tested links that the graph has */
    size_t known_non_links;         /* pairs labelled as non-links that the graph has as links */
} npgnn_test_counts;

/* Tests a model on the caller's pairs: `positives` links first, then non-links. Without non-links, they are drawn from
 * all pairs that are not links. Tested links that the graph has are removed from it before anything is scored, because
 * a model looks at known links; that it may have been trained on them cannot be undone. `counts` may be NULL.
 * E_ARGUMENT without a link, for nodes that are not in the graph, and for pairs with both labels. */
NPGNN_API int npgnn_test(npgnn_eval_run *run, npgnn_test_counts *counts, const npgnn_model *model,
                         const npgnn_graph *graph, const npgnn_pair *pairs, size_t positives, size_t count,
                         const npgnn_test_options *options, const npgnn_env *env, npgnn_error *err);

/* ================================================================================================================
 * 3. Handles
 * ============================================================================================================= */

/* ---- Graph: immutable --------------------------------------------------------------------------------------- */

/* Makes a graph from arrays, which are copied: edges in any order and direction (duplicates and self loops are merged
 * and counted), features as a row-major matrix (nodes, columns) or NULL. E_ARGUMENT for an id out of range or a feature
 * that is not finite. O(edges + nodes * columns). */
NPGNN_API int npgnn_graph_from_arrays(npgnn_graph **out, const npgnn_pair *edges, const float *features, int32_t nodes,
                                      int64_t edge_count, int32_t columns, const npgnn_env *env, npgnn_error *err);

/* The same with features in CSR: row i has columns col[ptr[i] .. ptr[i + 1]) with values val (NULL: all 1). */
NPGNN_API int npgnn_graph_from_csr(npgnn_graph **out, const npgnn_pair *edges, const int64_t *ptr, const int32_t *col,
                                   const float *val, int32_t nodes, int64_t edge_count, int32_t columns,
                                   const npgnn_env *env, npgnn_error *err);

/* A column of a table of node features in memory. It has either numbers or texts, one per node of its side. */
typedef struct npgnn_column {
    const char *name;         /* NULL: none */
    const char *kind;         /* as in npgnn_table_column; NULL: found from the values */
    const double *numbers;    /* NaN: missing */
    const char *const *texts; /* NULL: missing */
    int side;                 /* of a two-sided graph: 0 sources, 1 targets */
} npgnn_column;

/* A graph in memory. What is NULL or 0 is not there. */
typedef struct npgnn_graph_data {
    size_t size;
    int32_t nodes;
    int32_t sources;          /* two-sided: nodes 0 .. sources - 1 are the sources, the others the targets */
    const char *const *names; /* (nodes) distinct; NULL: nodes are named by their indices */
    const int32_t *labels;    /* (nodes) class of each node from 0 on, -1: none */
    const npgnn_pair
        *edges; /* (edge_count) any order and direction; duplicates and self loops are merged and counted */
    int64_t edge_count;
    const float *weights; /* (edge_count) positive and finite */
    const double *times;  /* (edge_count) when a link was made */
    /* features: a row-major matrix, or CSR as in npgnn_graph_from_csr, or a table */
    const float *features; /* (nodes, columns) */
    const int64_t *ptr;    /* (nodes + 1) */
    const int32_t *col;
    const float *val;
    int32_t columns;
    const char *const *column_names; /* (columns) of the matrix or CSR */
    const npgnn_column *table;       /* (table_columns) encoded as a table of text is (docs/use/formats.md) */
    int32_t table_columns;
    int32_t table_rows[2]; /* nodes of each side (of a one-sided graph, the first) that the columns have values for, the
                              others' features being zero; 0: all */
    const char *encoding;  /* of the table; as in npgnn_load_options */
    int skip_bad_cells;    /* 1: cells that are not of the kind of their column are missing; 0: E_FORMAT */
    int normalize, binarize; /* as in npgnn_load_options */
    /* (table_rows[i]) the node of each row of a table, numbered from 0 within its side, distinct.
     * NULL: row i is node i */
    const int32_t *table_nodes[2];
} npgnn_graph_data;

/* Makes a graph from memory, which is copied. Nodes keep the caller's numbers, on which random choices depend: for
 * results that do not depend on an order of appearance, number the nodes in an order of their own, such as
 * npgnn_load's. The table of a data frame gives the same features as its CSV file gives
 * npgnn_load. E_ARGUMENT for an index out of range, a number that is not finite, or a name that occurs twice; E_FORMAT
 * and E_MISMATCH name the row and the column of the table, whose rows count from 1. O(edges + nodes * columns). */
NPGNN_API int npgnn_graph_new(npgnn_graph **out, const npgnn_graph_data *data, const npgnn_env *env, npgnn_error *err);

/* What npgnn_load makes of the names of columns, for callers who read tables themselves: whether two columns are
 * usually the ends of a link, such as "user_id" and "item_id"; whether these are two kinds of nodes, as users and items
 * are; and whether a column usually has the ids of nodes. */
NPGNN_API int npgnn_names_are_ends(const char *source, const char *target);
NPGNN_API int npgnn_names_are_two_kinds(const char *source, const char *target);
NPGNN_API int npgnn_name_is_id(const char *name);

/* The graph with new nodes, whose features are read from a file in any form that npgnn_load accepts. They follow the
 * nodes of `graph`, in the order of their ids, have no links, and are prepared as the graph's nodes were (encoding,
 * normalize, binarize); rows without ids keep their order and are named by their numbers. E_MISMATCH if a name is taken,
 * or if the columns differ from the graph's: by name if both have names, otherwise by number. */
NPGNN_API int npgnn_graph_extend(npgnn_graph **out, const npgnn_graph *graph, const char *features, npgnn_error *err);

/* A generated citation-like graph: topics, skewed degrees, bag-of-words features; some links follow from the features,
 * some only from the structure (docs/use/synthetic.md). `spec` is "key=value,..." or NULL; keys: nodes, topics, words,
 * degree, length, seed. Deterministic; 100 to millions of nodes. */
NPGNN_API int npgnn_graph_synthetic(npgnn_graph **out, const char *spec, const npgnn_env *env, npgnn_error *err);

typedef struct npgnn_graph_info {
    size_t size;
    int32_t nodes;
    int64_t edges; /* undirected, each counted once, no self loops */
    int32_t columns;
    int64_t nonzeros;    /* of the features */
    int features_dense;  /* how they are stored */
    int32_t isolated;    /* nodes without an edge */
    int32_t featureless; /* nodes whose features are all zero: none, or the median of every column of a table */
    int32_t max_degree;
    int32_t classes;           /* distinct labels, 0 without labels */
    int weighted;              /* links have weights */
    int64_t input_edges;       /* edges as read, before merging */
    int64_t merged_duplicates; /* the same pair again, in the same direction */
    int64_t merged_reverse;    /* the same pair again, in the other direction */
    int64_t dropped_self_loops;
    uint64_t fingerprint; /* of structure and features; model files record it */
    int32_t sources;      /* of a two-sided graph; 0: it is one-sided */
    int dated;            /* links have times */
} npgnn_graph_info;

NPGNN_API int npgnn_graph_describe(npgnn_graph_info *info, const npgnn_graph *graph, npgnn_error *err);
NPGNN_API int32_t npgnn_graph_nodes(const npgnn_graph *graph);
NPGNN_API int64_t npgnn_graph_edges(const npgnn_graph *graph);

/* The neighbours of a node, ascending; valid as long as the graph. Returns their number. */
NPGNN_API int64_t npgnn_graph_neighbors(const int32_t **neighbors, const npgnn_graph *graph, int32_t node);

/* All links, each once with u < v, ordered by (u, v). Weights and times, which may be NULL, are those of the links;
 * without weights they are 1, without times NaN. */
NPGNN_API void npgnn_graph_list(npgnn_pair *edges /* (edges) */, float *weights /* (edges) */,
                                double *times /* (edges) */, const npgnn_graph *graph);
NPGNN_API int npgnn_graph_has_edge(const npgnn_graph *graph, int32_t u, int32_t v);

/* The weight of a link: 1 if the graph has no weights, 0 if there is no link. */
NPGNN_API float npgnn_graph_weight(const npgnn_graph *graph, int32_t u, int32_t v);

/* The name of a node as its file spelt it, or its decimal index, written into `buffer`, if the file had no names. */
NPGNN_API const char *npgnn_graph_name(const npgnn_graph *graph, int32_t node, char buffer[12]);

/* The node with this name, or -1. O(1). */
NPGNN_API int32_t npgnn_graph_find(const npgnn_graph *graph, const char *name);

/* The subgraph of `count` nodes, in ascending order, and the edges among them: its node i is nodes[i] of `graph`, with
 * name, label and features. E_ARGUMENT unless the nodes are strictly ascending and in the graph. */
NPGNN_API int npgnn_graph_subgraph(npgnn_graph **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count,
                                   npgnn_error *err);

/* The same nodes with other links, each given once. A link has the weight that it has in `graph`, or 1 where that does
 * not have it; there are no times. Features are shared, not copied. E_ARGUMENT for a node that is not in the graph. */
NPGNN_API int npgnn_graph_with_edges(npgnn_graph **out, const npgnn_graph *graph, const npgnn_pair *edges,
                                     int64_t edge_count, npgnn_error *err);

/* The side of a node of a two-sided graph: 0 for sources, 1 for targets; -1 if the graph is one-sided. In a two-sided
 * graph, non-links are drawn and links are searched across the sides only. */
NPGNN_API int npgnn_graph_side(const npgnn_graph *graph, int32_t node);

/* The class label of a node, or -1. */
NPGNN_API int32_t npgnn_graph_label(const npgnn_graph *graph, int32_t node);

/* Writes the graph such that npgnn_load reads back the same graph (docs/use/formats.md), including weights (load with
 * `weighted`). A path that ends with ".npg" becomes a file that npgnn_load maps into memory, for large graphs: opening
 * takes little time and memory, and processes share its pages. A file that exists is replaced. Another path becomes a
 * folder, which must not exist. Either appears whole or not at all. E_IO; for a folder, E_ARGUMENT for a node whose
 * name has a line break, and for a path that looks like a file of another format, such as "graph.npz". */
NPGNN_API int npgnn_graph_save(const npgnn_graph *graph, const char *path, npgnn_error *err);

/* The features of a node that are not zero: their columns, ascending, and their values; either array may be NULL.
 * Returns how many there are. */
NPGNN_API int32_t npgnn_graph_features(int32_t *columns, float *values, const npgnn_graph *graph, int32_t node);

/* The name of a feature column (0 .. columns - 1) as its file spelt it; NULL if the file had no names. Either all
 * columns have names or none has. Names are UTF-8 and distinct. */
NPGNN_API const char *npgnn_graph_column_name(const npgnn_graph *graph, int32_t column);

/* A column of a table of text from which features were made (docs/use/formats.md). */
typedef struct npgnn_table_column {
    const char *name;       /* from the header; NULL: there was none */
    const char *kind;       /* "number", "category", "flag", "date", "text", "raw" or "ignored" */
    int64_t rows, missing;  /* of the table, and without a value */
    int32_t first, columns; /* the feature columns that it became */
    int side;               /* of a two-sided graph: 0 sources, 1 targets */
    char summary[160];      /* its range or most frequent values, for people */
    char outcome[128];      /* what became of it, for people */
} npgnn_table_column;

/* The index-th column of the table; returns 0 past the last, and where the features are no such table. Strings are
 * valid as long as the graph. */
NPGNN_API int npgnn_graph_table(npgnn_table_column *out, const npgnn_graph *graph, int32_t index);

/* How the columns of the table became features, as JSON, for npgnn_load_options.encoding: another table is then encoded
 * in the same way. NULL if the features were numbers already. Valid as long as the graph. */
NPGNN_API const char *npgnn_graph_encoding(const npgnn_graph *graph);
NPGNN_API void npgnn_graph_free(npgnn_graph *graph);

/* ---- Lines of text --------------------------------------------------------------------------------------------- */

/* Reads text that speaks of nodes, such as pairs and scores, by the rules for lists of links (docs/use/formats.md): gzip
 * is unpacked, blank lines and comments are left out, and names may be in quotes. */
typedef struct npgnn_lines npgnn_lines;

/* Opens a file; "-" is standard input. `separator` is what stands between fields, '\n' where each line is one field. With
 * 0, each line has its own, and empty fields are left out: a tab where there is one, otherwise a comma, otherwise a
 * semicolon, otherwise blanks. Nothing is read yet. E_IO. */
NPGNN_API int npgnn_lines_open(npgnn_lines **out, const char *path, char separator, const npgnn_env *env,
                               npgnn_error *err);

/* The fields of the next line, valid until the next call. Returns 1, or 0 at the end. Unless it may `wait`, it returns 2
 * where a pipe or a terminal has not given a whole line yet. E_FORMAT for a file that is not text; E_IO. */
NPGNN_API int npgnn_lines_next(const char *const **fields /* (count) */, int *count, npgnn_lines *lines, int wait,
                               npgnn_error *err);

/* The number of the latest line in its file, from 1 on. */
NPGNN_API int64_t npgnn_lines_number(const npgnn_lines *lines);
NPGNN_API void npgnn_lines_free(npgnn_lines *lines);

/* ---- Split --------------------------------------------------------------------------------------------------- */

/* Divides a graph, which must outlive the split. Non-links are distinct and uniform over the pairs of the same kind as the
 * links that are not edges of the complete graph; for random-links and the authors' protocols, over all pairs. A
 * transductive split may have fewer links than asked for; env.log then says so. E_ARGUMENT if a set would be empty or the
 * graph has too few non-edges of a kind. */
NPGNN_API int npgnn_split_new(npgnn_split **out, const npgnn_graph *graph, const npgnn_split_options *options,
                              const npgnn_env *env, npgnn_error *err);

/* Split files have tab-separated columns set, u, v, label (docs/use/formats.md). Reading checks every pair against the
 * graph. */
NPGNN_API int npgnn_split_load(npgnn_split **out, const npgnn_graph *graph, const char *path, const npgnn_env *env,
                               npgnn_error *err);
NPGNN_API int npgnn_split_save(const npgnn_split *split, const char *path, npgnn_error *err);

/* The split (random-links) that the program of the paper's authors draws: 5 % of the links for validation, 10 % for the
 * test. On Cora, Citeseer and PubMed it is the one of the published figures. E_ARGUMENT for a graph with fewer than 20
 * links, or with two sides; E_MISMATCH where its sets share a non-link, which that program does not prevent. */
NPGNN_API int npgnn_split_authors(npgnn_split **out, const npgnn_graph *graph, const npgnn_env *env, npgnn_error *err);

typedef enum { NPGNN_SET_VAL, NPGNN_SET_TEST } npgnn_set;

/* The pairs of a held-out set: `positives` links first, then non-links; valid as long as the split. Returns their
 * number. */
NPGNN_API size_t npgnn_split_pairs(const npgnn_pair **pairs, size_t *positives, const npgnn_split *split,
                                   npgnn_set set);

/* The graph known in training. Its node i is node (*map)[i] of the complete graph, or node i if *map is NULL because
 * all nodes are known. `map` itself may be NULL. */
NPGNN_API const npgnn_graph *npgnn_split_train(const int32_t **map, const npgnn_split *split);
NPGNN_API npgnn_protocol npgnn_split_protocol(const npgnn_split *split);
NPGNN_API uint64_t npgnn_split_hash(const npgnn_split *split);

/* Verifies that no held-out pair or node leaks into training or into another set, in either direction. npgnn_split_new
 * and npgnn_split_load do so themselves. E_MISMATCH names the first leak. */
NPGNN_API int npgnn_split_check(const npgnn_split *split, npgnn_error *err);
NPGNN_API void npgnn_split_free(npgnn_split *split);

/* ---- Trainer ------------------------------------------------------------------------------------------------- */

/* A training on the known graph of `split`, validated on its validation pairs; or on all of `graph` if split is NULL.
 * Without validation pairs it begins with a rehearsal, as npgnn_fit does; the training proper then counts iterations
 * from zero again. Everything that the iterations need is allocated before the first. Graph and split must outlive the
 * trainer. */
NPGNN_API int npgnn_trainer_new(npgnn_trainer **out, const npgnn_graph *graph, const npgnn_split *split,
                                const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

/* One iteration; after the last of a rehearsal, the first of the training proper. `progress` may be NULL. E_DIVERGED
 * keeps the parameters of the previous iteration. E_MEMORY can occur only at the end of the rehearsal; afterwards the
 * trainer may only be freed. */
NPGNN_API int npgnn_trainer_step(npgnn_progress *progress, npgnn_trainer *trainer, npgnn_error *err);

/* Iterates to the end, calling env.progress; honours validation, patience and cancellation. */
NPGNN_API int npgnn_trainer_run(npgnn_trainer *trainer, npgnn_error *err);

/* The current state. */
NPGNN_API int npgnn_trainer_progress(npgnn_progress *progress, const npgnn_trainer *trainer, npgnn_error *err);

/* Checkpoints. Saving writes everything that the rest of the training depends on to a file (docs/use/formats.md),
 * atomically; the previous file is kept as PATH.prev. It may be called between iterations, also from env.progress.
 * E_IO, E_MEMORY.
 *
 * Restoring puts a trainer made from the same graph, split and options into the saved state: it continues to the same
 * bits, with any number of threads. E_MISMATCH names what differs; E_FORMAT is a damaged file, and names the previous
 * one if that is intact. Both leave the trainer as it was. */
NPGNN_API int npgnn_trainer_save(npgnn_trainer *trainer, const char *path, npgnn_error *err);
NPGNN_API int npgnn_trainer_restore(npgnn_trainer *trainer, const char *path, npgnn_error *err);

/* The options of the training in a checkpoint. */
NPGNN_API int npgnn_checkpoint_options(npgnn_options *options, const char *path, const npgnn_env *env,
                                       npgnn_error *err);

/* The current model (the best one with keep_best), calibrated if the options ask for it, as a new handle. Also after
 * E_CANCELLED or E_DIVERGED. Not for two threads at once. */
NPGNN_API int npgnn_trainer_model(npgnn_model **out, const npgnn_trainer *trainer, npgnn_error *err);
NPGNN_API void npgnn_trainer_free(npgnn_trainer *trainer);

/* ---- Model --------------------------------------------------------------------------------------------------- */

/* A model file is a safetensors file (docs/use/formats.md). It is written atomically: after a failure an older file is
 * intact. Loading returns the same bits. */
NPGNN_API int npgnn_model_save(const npgnn_model *model, const char *path, npgnn_error *err);
NPGNN_API int npgnn_model_load(npgnn_model **out, const char *path, const npgnn_env *env, npgnn_error *err);

/* The model that comes with the library: a neural process learnt across hundreds of graphs, which predicts the links
 * of a graph that nobody has trained on, with or without features. A predictor of it sets some of the graph's links
 * aside, several times, infers from them which kind of graph it is (the latent z), fits a few weights, calibrates
 * itself, and then uses all links. docs/understand/process.md. */
NPGNN_API int npgnn_model_universal(npgnn_model **out, const npgnn_env *env, npgnn_error *err);

/* Receives a graph of a corpus, which it owns from then on. Return non-zero to cancel. */
typedef int npgnn_graph_fn(void *user, const char *name, npgnn_graph *graph);

/* Reads every graph of a corpus: a folder of files and folders that npgnn_load takes, in the order of their names (.md,
 * SHA256SUMS and hidden files are not read, nor are README, LICENSE and COPYING with any ending); or an .npz file with
 * one array per graph, in the order of the file, (links + 1, 2) integers whose first row is (nodes, 0). With
 * skip_broken, a graph that cannot be read is named in the log and left out; otherwise it ends the call. The log has
 * nothing else. E_IO, E_FORMAT, E_MEMORY, E_CANCELLED. */
NPGNN_API int npgnn_load_each(const char *path, npgnn_graph_fn *see, void *user, int skip_broken, const npgnn_env *env,
                              npgnn_error *err);

/* Learns such a model from graphs of one's own. `family` (count) numbers them from 0: graphs that are alike, such as
 * snapshots of one network, share a number and together count little more than one. Calls env.progress after every step
 * (loss: negative log-likelihood and ranking loss; there is no KL), and env.log for a graph that has too few links.
 * O(graphs) memory beside the graphs. The same bits for any number of threads. */
typedef struct npgnn_pretrain_options {
    size_t size;
    int steps;     /* 0: 2500 */
    uint64_t seed; /* 0: 1 */
    /* NULL, or a file for checkpoints: written every checkpoint_every steps (0: 100) and when the call is cancelled. A
     * checkpoint that cannot be written is logged, and training goes on. */
    const char *checkpoint;
    int checkpoint_every;
    /* NULL, or a checkpoint to resume from, to the same bits. E_MISMATCH unless graphs, families, steps and seed are
     * the same as before. */
    const char *resume;
} npgnn_pretrain_options;
NPGNN_API int npgnn_pretrain(npgnn_model **out, const npgnn_graph *const *graphs, const int *family, size_t count,
                             const npgnn_pretrain_options *options, const npgnn_env *env, npgnn_error *err);

typedef struct npgnn_model_info {
    size_t size;
    int32_t columns;              /* features it expects */
    int64_t parameters;           /* numbers learnt */
    int iterations;               /* trained */
    uint64_t fingerprint;         /* of the graph it was trained on */
    uint64_t context_fingerprint; /* of the graph that z was encoded from: the same, except after npgnn_model_adapt */
    int32_t train_nodes;
    int64_t train_edges;
    int normalize, binarize; /* how the features were prepared */
    int weighted;            /* the links had weights */
    double val_auc, val_ap;  /* at its best validation, NaN without validation */
    int calibrated;          /* 1: probabilities were calibrated on held-out links; 0: uncalibrated */
    double link_rate;        /* share of links among all pairs of the training graph, or of the graph given to
                                npgnn_model_adapt */
    char version[16];        /* of the library that wrote it */
    int across_graphs;       /* 1: a process learnt across graphs, and fitted to one if train_nodes > 0; 0: a network
                                trained on one graph */
    /* Of a process that was fitted to a graph; otherwise 0 and NaN. */
    int tuned; /* 1: its head was tuned on that graph; 0: it is used as it is, since tuning did not help there, or the
                  graph has too few links to tell */
    /* AUC on links of that graph that were hidden, and on the links of nodes that were hidden: [0] of the process as it
     * is, [1] tuned on the other links. NaN where none could be hidden. z, which both share, was inferred from some of
     * these links. */
    double hidden_links_auc[2], hidden_nodes_auc[2];
} npgnn_model_info;
NPGNN_API int npgnn_model_describe(npgnn_model_info *info, const npgnn_model *model, npgnn_error *err);

/* The options it was trained with; output_size of a process is the width of its embeddings. */
NPGNN_API int npgnn_model_options(npgnn_options *options, const npgnn_model *model, npgnn_error *err);

/* The name of a feature column of the graph it was trained on, NULL if that had no names. */
NPGNN_API const char *npgnn_model_column_name(const npgnn_model *model, int32_t column);

/* The table of that graph and its encoding, as npgnn_graph_table and npgnn_graph_encoding have them. A graph that the
 * model is applied to must be loaded with this encoding, or with "raw" if it is NULL. */
NPGNN_API int npgnn_model_table(npgnn_table_column *out, const npgnn_model *model, int32_t index);
NPGNN_API const char *npgnn_model_encoding(const npgnn_model *model);

/* Calibrates the probabilities of a network: of the pairs that get probability p, a share of p is linked. Fitted on the
 * validation links of `split` and up to 262,144 non-links of the same kind. Training does this itself unless told not
 * to. E_ARGUMENT if the split has no validation links, and for a process, which is calibrated when it is tuned or else
 * on every graph that it predicts on. O(n) memory as for a predictor. */
NPGNN_API int npgnn_model_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env,
                                    npgnn_error *err);

/* The embeddings (nodes, output_size) of all nodes of a graph, with z at its mean; output_size is that of
 * npgnn_model_options, 48 for a process. The inner product of two embeddings of a network is the score of the pair. With
 * a process it only approximates the score, up to a constant; npgnn_model_embed_test measures how well it ranks. Columns that a small graph does not need are 0. E_MISMATCH if the feature columns differ, E_DIVERGED as
 * npgnn_predict, E_CANCELLED. */
NPGNN_API int npgnn_model_embed(float *embedding, const npgnn_model *model, const npgnn_graph *graph,
                                const npgnn_env *env, npgnn_error *err);

/* How well inner products of embeddings rank. */
typedef struct npgnn_embed_accuracy {
    size_t size;
    size_t links;     /* held out, and as many non-links */
    double inner_auc; /* AUC of the inner products of embeddings that are made without these links, */
    double score_auc; /* and of the scores of the same pairs */
} npgnn_embed_accuracy;

/* Holds out 10 % of the links of a graph (protocol transductive, this seed), applies the model to the others, and ranks
 * the links that are held out. A model that was trained or tuned on this graph has seen them. E_ARGUMENT if the graph has
 * too few links for that; otherwise as npgnn_model_embed, and twice its time. */
NPGNN_API int npgnn_model_embed_test(npgnn_embed_accuracy *out, const npgnn_model *model, const npgnn_graph *graph,
                                     uint64_t seed, const npgnn_env *env, npgnn_error *err);

/* The distribution of z: the mean and standard deviation of each of its `latent_size` numbers; either may be NULL.
 * Returns how many there are: 0 for a model without latent. */
NPGNN_API int npgnn_model_latent(float *mean, float *sigma, const npgnn_model *model);

/* A copy of the model for a graph that it was not trained on: its z is encoded from `context`. Nothing is trained. The
 * links that embeddings are averaged over (option propagate) are always those of the graph that is predicted on. A
 * model without latent is copied unchanged. E_MISMATCH if the feature columns differ, E_ARGUMENT for a graph without
 * nodes, E_DIVERGED if its features are so large that z is not finite. O(n hidden) memory, one pass over edges and
 * features. */
NPGNN_API int npgnn_model_adapt(npgnn_model **out, const npgnn_model *model, const npgnn_graph *context,
                                const npgnn_env *env, npgnn_error *err);
NPGNN_API void npgnn_model_free(npgnn_model *model);

/* ---- Predictor: a model applied to the nodes of a graph, ready for any number of pairs --------------------------- */

typedef struct npgnn_predictor npgnn_predictor;

/* Model and graph must outlive it. Memory for any number of draws or pairs: O(n (decoder_hidden + output_size)) of a
 * network; of a process, about 450 n numbers, or 130 n without features. E_CANCELLED if env->stop is set, E_DIVERGED as npgnn_predict: with draws,
 * npgnn_predictor_run and npgnn_predictor_top give it. */
NPGNN_API int npgnn_predictor_new(npgnn_predictor **out, const npgnn_model *model, const npgnn_graph *graph,
                                  const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err);

/* E_ARGUMENT for a node that is not in the graph. With draws, every call decodes all nodes once per draw: pass pairs in
 * large batches. The prediction for a pair does not depend on its batch. Not for two threads at once. */
NPGNN_API int npgnn_predictor_run(npgnn_prediction *out /* (count) */, npgnn_predictor *predictor,
                                  const npgnn_pair *pairs, size_t count, npgnn_error *err);

/* A pair that was found, with its prediction. */
typedef struct npgnn_link {
    npgnn_pair pair;
    npgnn_prediction prediction;
    int known; /* 1: the graph has this link */
} npgnn_link;

/* What "best" means with draws: the most probable or, for cautious lists, the highest lower end of the interval.
 * Without draws there is no difference. */
typedef enum { NPGNN_BY_PROBABILITY, NPGNN_BY_LOW } npgnn_rank;

/* Which pairs a search scores. A search of r nodes in a graph of n nodes scores all pairs unless r n is more than
 * NPGNN_EXACT_PAIRS; then it retrieves candidates for each node and scores these. */
typedef enum { NPGNN_SEARCH_AUTO, NPGNN_SEARCH_EXACT, NPGNN_SEARCH_CANDIDATES } npgnn_search;
#define NPGNN_EXACT_PAIRS (INT64_C(1) << 31)

/* How a search was done. Where it had candidates, and searched at least NPGNN_CHECKED_NODES nodes, so many of them were
 * searched exactly, too: `recall` is the
 * share of their best partners (the k best; at most NPGNN_CHECKED_BEST) that the candidates contain, or others that score
 * as high; low to high is its 95 % interval. */
typedef struct npgnn_search_info {
    size_t size;
    int32_t candidates;       /* per node; 0: all pairs were scored */
    int32_t checked;          /* nodes that were searched exactly, too */
    int32_t best;             /* partners of each whose recall was measured */
    double recall, low, high; /* NaN where none was checked */
} npgnn_search_info;
enum { NPGNN_CHECKED_NODES = 200, NPGNN_CHECKED_BEST = 10 };

/* What to search; the default is all nodes with all nodes, without the links that the graph has. */
typedef struct npgnn_top_options {
    size_t size;
    const int32_t *from, *to;     /* distinct nodes for the first and the second end; NULL: all */
    int32_t from_count, to_count; /* how many, if given */
    int known;                    /* 1: include links that the graph has */
    double min_probability;       /* leave out pairs whose probability (or `low`) is less; 0 to 1 */
    npgnn_rank rank;
    npgnn_search search;
    int32_t candidates;      /* per node, where candidates are retrieved; 0: 256. More find more, and take longer. At
                                least 3 k, or 30 for the best links */
    int unchecked;           /* 1: do not measure how good the candidates are */
    npgnn_search_info *info; /* NULL, or: filled in */
} npgnn_top_options;

/* The k best partners of every node of `from`, best first: those of the i-th are out[i * k] to out[i * k + found[i] -
 * 1]. What is found is what npgnn_predictor_run would give for these pairs, to the bit, for any number of threads. All
 * pairs are considered, unless candidates are retrieved: for processes only, in one process, by `search`; then env.log
 * is told what share of the best they contain. Pairs are ordered by score (the same order as by probability, but finer) or, with draws,
 * by probability (or `low`), then score; ties by node number, smaller first.
 *
 * env.progress is called with `iteration` of `iterations` nodes done; after E_CANCELLED found[i] is 0 for nodes that
 * were not reached. E_ARGUMENT, E_MEMORY. O(from n output_size) operations and O(n output_size) memory, both times the
 * draws, plus some megabytes per thread; with candidates, O(links + from) operations. Not for two threads at once. */
NPGNN_API int npgnn_predictor_top(npgnn_link *out /* (from, k) */, int32_t *found /* (from) */,
                                  npgnn_predictor *predictor, int32_t k, const npgnn_top_options *options,
                                  npgnn_error *err);

/* 1 if a search can retrieve candidates (the model is a process, and this is one process); otherwise 0. */
NPGNN_API int npgnn_predictor_retrieves(const npgnn_predictor *predictor);

/* The k best links overall, in the same order and found the same way. A pair whose ends could be exchanged is listed
 * once, smaller node first. O(threads k) additional memory. */
NPGNN_API int npgnn_predictor_top_links(npgnn_link *out /* (k) */, int32_t *found, npgnn_predictor *predictor,
                                        int32_t k, const npgnn_top_options *options, npgnn_error *err);
/* Why a pair has its probability. The kinds of reasons, X(name, text): features of the two nodes; those of their
 * neighbours; neighbours in common; walks between them; their regions of the graph; their numbers of links. */
#define NPGNN_REASON_LIST(X)                                                                                           \
    X(FEATURES, "features")                                                                                            \
    X(NEIGHBOR_FEATURES, "neighbor-features")                                                                          \
    X(NEIGHBORS, "neighbors")                                                                                          \
    X(WALKS, "walks")                                                                                                  \
    X(REGION, "region")                                                                                                \
    X(LINKS, "links")

typedef enum npgnn_reason {
#define NPGNN_X(name, text) NPGNN_REASON_##name,
    NPGNN_REASON_LIST(NPGNN_X)
#undef NPGNN_X
        NPGNN_REASONS /* how many there are */
} npgnn_reason;
enum { NPGNN_MAX_REASONS = 16 };

/* What a kind of reason is called; never NULL. */
NPGNN_API const char *npgnn_reason_name(npgnn_reason reason);

/* A column of the evidence (docs/understand/process.md) and what it contributes. */
typedef struct npgnn_contribution {
    const char *name; /* of the column, such as "common" */
    const char *text; /* completes the sentence "these two nodes have ..." */
    npgnn_reason reason;
    double value;    /* of the pair */
    double average;  /* of an average non-link */
    double log_odds; /* contributed by the difference of the two */
} npgnn_contribution;

typedef struct npgnn_explanation {
    size_t size;
    double
        log_odds; /* of a link, calibrated and at the predictor's link rate: probability = 1 / (1 + exp(-log_odds)) */
    double baseline;                   /* the same for the evidence of an average non-link */
    double reasons[NPGNN_MAX_REASONS]; /* (reason_count) contributions by kind: the sums of those of `columns` */
    double walks;                      /* number of walks of three steps between the two */
    double walk_lift; /* how many times as likely such a walk from one ends at the other as a random link does */
    const npgnn_contribution *columns; /* (column_count) */
    const int32_t *neighbors;          /* (neighbor_count) neighbours in common, those with the fewest links first */
    const int32_t *features;           /* (feature_count) feature columns that both have, rarest first */
    const char *text;                  /* the main reasons in words, with names and contributions */
    int32_t reason_count, column_count, neighbor_count, feature_count;
} npgnn_explanation;

/* Explains the prediction for a pair: log_odds = baseline + the sum of the contributions of all columns, to 1e-6 or
 * better. Contributions are integrated gradients along the straight line from the evidence of an average non-link of
 * this graph (the mean over up to 1024 random ones, which the first call draws). With draws, log_odds, baseline
 * and contributions are means over the draws, and the probability is 1 / (1 + exp(-log_odds)) only approximately.
 * `features` has the columns that a node has or has not: words, categories and flags, and other columns that are never
 * negative and 0 for most nodes. What `out` points to is valid until the next call with this predictor. E_ARGUMENT for
 * a network, whose embeddings mean nothing to people, for a node that is not in the graph, and in one of several
 * processes for a pair that npgnn_predictor_gather was not given. Not for two threads at once. */
NPGNN_API int npgnn_predictor_explain(npgnn_explanation *out, npgnn_predictor *predictor, npgnn_pair pair,
                                      npgnn_error *err);

/* Brings the evidence of these pairs into every process, where several have divided it: all of them call it, with the
 * same pairs, and each one may explain these until the next call. It costs what npgnn_predictor_run costs, and 108
 * bytes per pair. With one process there is nothing to gather. E_ARGUMENT as npgnn_predictor_explain. */
NPGNN_API int npgnn_predictor_gather(npgnn_predictor *predictor, const npgnn_pair *pairs, size_t count,
                                     npgnn_error *err);
NPGNN_API void npgnn_predictor_free(npgnn_predictor *predictor);

/* ---- Live graph: predictions for a graph that gains nodes and links ---------------------------------------------- */

/* A model applied to a graph that grows. New nodes and links count in the next prediction, without training.
 *
 * Any number of threads may predict at once, and one more may add or refresh meanwhile. Predictions use the mean of z.
 *
 * With universal or a model of the preset best, this counts at once: the links themselves, degrees, common neighbours
 * and walks of all pairs; the features of new nodes; and, for every node that is new or has new links, its
 * neighbourhood and its region of the graph. This counts after npgnn_live_refresh, which reads the whole graph again:
 * what a new link changes in the neighbourhoods and regions of nodes further away, what the graph as a whole tells
 * (which features go together, the kind of graph), and the calibration. After a refresh, predictions are those of a new
 * predictor on the same graph, to the bit. With a network, everything counts at once: each addition embeds all nodes
 * again. */
typedef struct npgnn_live npgnn_live;

/* The model must outlive it. The graph is copied. `options->samples` is ignored, and so is env->comm: each process has
 * all. As expensive as npgnn_predictor_new. */
NPGNN_API int npgnn_live_new(npgnn_live **out, const npgnn_model *model, const npgnn_graph *graph,
                             const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err);

/* A cell of a table: the column by its name, and the text. A number has a decimal point or, where the table of the
 * training had these in the column, a decimal comma; no points between thousands. Where the graph's features are no
 * table, the column is a feature column, by its name or, where columns have no names, by its number from 0, and the
 * text is a number. */
typedef struct npgnn_cell {
    const char *column, *text;
} npgnn_cell;

typedef struct npgnn_new_node {
    size_t size;
    const char *name;
    const npgnn_cell *cells; /* (cell_count) columns that are not given are missing values, or 0 */
    int32_t cell_count;
    int side; /* in a two-sided graph: 0 a source, 1 a target */
} npgnn_new_node;

/* Adds nodes, all or none of them: they are numbered from the number of nodes on, in order. E_ARGUMENT for a name that
 * is taken or not UTF-8, a column that the graph does not have, and a cell that its column cannot have. Copies the
 * features and names of the graph: O(size of the graph). Waits for predictions that are being computed. */
NPGNN_API int npgnn_live_add_nodes(npgnn_live *live, const npgnn_new_node *nodes /* (count) */, size_t count,
                                   npgnn_error *err);

/* Adds links, all or none of them; those that the graph has are left out. *added (may be NULL): how many were new.
 * E_ARGUMENT for a node that is not in the graph, a node with itself, and two nodes on one side of a two-sided graph.
 * Copies the links of the graph: O(nodes + links). Waits for predictions that are being computed. */
NPGNN_API int npgnn_live_add_links(int64_t *added, npgnn_live *live, const npgnn_pair *links, size_t count,
                                   npgnn_error *err);

/* Reads the whole graph again, while predictions go on with what there is. As expensive as npgnn_predictor_new. Nodes
 * and links that are added meanwhile count at once, as always. */
NPGNN_API int npgnn_live_refresh(npgnn_live *live, npgnn_error *err);

typedef struct npgnn_live_info {
    size_t size;
    int64_t new_nodes, new_links; /* that the last refresh did not know */
    int64_t refreshes;            /* completed */
} npgnn_live_info;
NPGNN_API int npgnn_live_describe(npgnn_live_info *info, npgnn_live *live, npgnn_error *err);

/* Between begin and end the graph stays as it is, and the calling thread may call the three functions below, and any
 * function of the graph. It must not add or refresh. The graph is valid until end. */
NPGNN_API const npgnn_graph *npgnn_live_begin(npgnn_live *live);
NPGNN_API void npgnn_live_end(npgnn_live *live);

/* As npgnn_predictor_top for one node, npgnn_predictor_run and npgnn_predictor_explain, on the calling thread. With a
 * process, the search of a graph of more than 65,536 nodes retrieves candidates, nodes that were added among them; env.log is
 * told at the beginning what share of the best they contain. The first two are for many threads at once; explanations are for one thread at a time. */
NPGNN_API int npgnn_live_top(npgnn_link *out /* (k) */, int32_t *found, npgnn_live *live, int32_t node, int32_t k,
                             npgnn_error *err);
NPGNN_API int npgnn_live_score(npgnn_prediction *out /* (count) */, npgnn_live *live, const npgnn_pair *pairs,
                               size_t count, npgnn_error *err);
NPGNN_API int npgnn_live_explain(npgnn_explanation *out, npgnn_live *live, npgnn_pair pair, npgnn_error *err);
NPGNN_API void npgnn_live_free(npgnn_live *live);

/* ---- Methods without a model: what npgnn_evaluate can judge, applied to a graph ---------------------------------- */

typedef struct npgnn_method_options {
    size_t size;
    const char *method; /* one of npgnn_method_info, except "npgnn", "cnp" and "universal", which are models */
    uint64_t seed;      /* of methods that train */
} npgnn_method_options;

/* Scores pairs with a method that uses all links of the graph. Scores are on a scale of the method's own: larger is
 * likelier, and they are no probabilities. A method that trains does so in every call. E_ARGUMENT, E_MEMORY,
 * E_CANCELLED, E_DIVERGED. */
NPGNN_API int npgnn_method_score(float *score /* (count) */, const npgnn_graph *graph, const npgnn_pair *pairs,
                                 size_t count, const npgnn_method_options *options, const npgnn_env *env,
                                 npgnn_error *err);

/* The same search as npgnn_predictor_top and, with `links` 1, npgnn_predictor_top_links (`found` is then one number),
 * by the score of a method; ties by node number, smaller first. Pairs with a score of exactly 0 are left out: the
 * method knows nothing about them. Of a prediction, `score` is set and the rest is NaN; `top` must not ask for
 * probabilities. A score is to the bit what npgnn_method_score gives. With a neighbourhood heuristic, a node costs the
 * walks from it (docs/results/baselines.md), otherwise n pairs; per thread, memory for about 50 n bytes. */
NPGNN_API int npgnn_method_top(npgnn_link *out, int32_t *found, const npgnn_graph *graph, int32_t k, int links,
                               const npgnn_method_options *options, const npgnn_top_options *top, const npgnn_env *env,
                               npgnn_error *err);

/* ---- Estimates: what will a job take?
 * -------------------------------------------------------------------------------- */

/* Measured rather than calculated: a short job of the same kind (6 iterations, one seed, some of the nodes or pairs)
 * runs in counted memory, and its time is scaled up. That takes seconds; nothing is kept. */
typedef struct npgnn_cost {
    size_t size;
    int64_t bytes;       /* peak memory, besides graph, split, model and the array of results */
    double seconds;      /* at most: what patience or an early best iteration saves is not known */
    int64_t steps;       /* iterations of all trainings, nodes of a search, or pairs */
    double step_seconds; /* per step, without validation; 0 if there are none or they are too fast to measure */
} npgnn_cost;

/* Each takes the arguments of the job itself, fails as that does, and honours env.progress, which sees the short
 * job. */

/* Of npgnn_fit or, with a split, of a training on that, including calibration. */
NPGNN_API int npgnn_estimate_fit(npgnn_cost *out, const npgnn_graph *graph, const npgnn_split *split,
                                 const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

/* Methods with their own number of iterations are stopped after 6 of them: what they need afterwards is not counted. */
NPGNN_API int npgnn_estimate_evaluate(npgnn_cost *out, const npgnn_graph *graph, int seeds,
                                      const npgnn_eval_options *options, const npgnn_env *env, npgnn_error *err);
NPGNN_API int npgnn_estimate_transfer(npgnn_cost *out, const npgnn_graph *graph, const npgnn_model *model, int seeds,
                                      const npgnn_transfer_options *options, const npgnn_env *env, npgnn_error *err);

/* Of a predictor and `count` pairs of nodes, in batches of 262,144. */
NPGNN_API int npgnn_estimate_predict(npgnn_cost *out, const npgnn_model *model, const npgnn_graph *graph, int64_t count,
                                     const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err);

/* Of a predictor and npgnn_predictor_top or, with `links` 1, npgnn_predictor_top_links. */
NPGNN_API int npgnn_estimate_top(npgnn_cost *out, const npgnn_model *model, const npgnn_graph *graph, int32_t k,
                                 int links, const npgnn_predict_options *predict, const npgnn_top_options *options,
                                 const npgnn_env *env, npgnn_error *err);

/* ================================================================================================================
 * 4. Expert
 * ============================================================================================================= */

/* Area under the ROC curve and average precision, with ties as in scikit-learn. O((P + N) log (P + N)). E_ARGUMENT if a
 * class is empty or a score is NaN. */
NPGNN_API int npgnn_auc_ap(double *auc, double *ap, const float *positive, const float *negative, size_t positives,
                           size_t negatives, const npgnn_env *env, npgnn_error *err);

/* The rank of each positive among all negatives, ties counted as half: mean reciprocal rank, and the share of positives
 * whose rank is at most k[i], for each of `ks` values. */
NPGNN_API int npgnn_mrr_hits(double *mrr, double *hits /* (ks) */, const float *positive, const float *negative,
                             size_t positives, size_t negatives, const int *k, size_t ks, const npgnn_env *env,
                             npgnn_error *err);

/* Paired values, such as the AUC of two methods on the same splits: statistics of the differences values[i] -
 * reference[i], rounded to multiples of 1e-12 such that equal ones tie. The interval of the mean holds the central 95 %
 * of the means of NPGNN_PAIRED_RESAMPLES samples of the differences, drawn with replacement. p is the two-sided p-value
 * of Wilcoxon's signed-rank test: exact, also with ties, up to NPGNN_PAIRED_EXACT differences other than 0; beyond, a
 * normal approximation. */
enum {
    NPGNN_PAIRED_LEAST = 6, /* with fewer pairs p cannot be below 0.05: it is at least 2 / 2^5 = 0.0625 */
    NPGNN_PAIRED_EXACT = 25,
    NPGNN_PAIRED_RESAMPLES = 10000
};

typedef struct npgnn_paired {
    size_t size;
    int better, worse;      /* differences above and below 0 */
    double mean, low, high; /* of the differences, with its interval; NaN for a single difference */
    double p;               /* NaN with fewer than NPGNN_PAIRED_LEAST differences */
} npgnn_paired;

/* The same seed gives the same interval. E_ARGUMENT without values, or if a difference is not finite. */
NPGNN_API int npgnn_paired_compare(npgnn_paired *out, const double *values, const double *reference, int count,
                                   uint64_t seed, const npgnn_env *env, npgnn_error *err);

/* Measures the calibration of probabilities of links and non-links, which must be for the given link rate. Non-links
 * are weighted such that links are a share of link_rate. E_ARGUMENT if a class is empty or a probability is not in 0 ..
 * 1. O((P + N) log (P + N)). */
NPGNN_API int npgnn_calibration_measure(npgnn_calibration *out, const float *positive, const float *negative,
                                        size_t positives, size_t negatives, double link_rate, const npgnn_env *env,
                                        npgnn_error *err);

/* The all-pairs loss (docs/understand/pairs.md): binary cross-entropy of sigmoid(u_i . u_j) against the links of
 * `graph`, over all n^2 ordered pairs (in a two-sided graph, those across), for the caller's embeddings u (nodes,
 * columns). pairs_per_node 0: exact, O(n^2 columns) operations; otherwise an unbiased estimate from about that many
 * pairs per node, O(n pairs_per_node columns). O(n columns) memory either way. */
typedef struct npgnn_pairs_loss npgnn_pairs_loss;
NPGNN_API int npgnn_pairs_loss_new(npgnn_pairs_loss **out, const npgnn_graph *graph, int columns, int pairs_per_node,
                                   npgnn_likelihood likelihood, uint64_t seed, const npgnn_env *env, npgnn_error *err);

/* Returns the loss, and its gradient (nodes, columns) if that is not NULL. `draw` numbers the estimates. Not for two
 * threads at once. */
NPGNN_API double npgnn_pairs_loss_run(float *gradient, npgnn_pairs_loss *loss, const float *embedding, uint32_t draw);
NPGNN_API void npgnn_pairs_loss_free(npgnn_pairs_loss *loss);

#ifdef __cplusplus
}
#endif
#endif
