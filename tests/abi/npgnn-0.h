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
 *  - A child of fork() may use the library, and the handles it has inherited, if no other thread of the parent was
 *    inside a call of the library at the moment of the fork. It gets a pool of its own. A callback must not fork.
 *  - The same data, options and seed give the same bits, for any number of threads, on one kind of processor. */
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
    X(E_DIVERGED, -6, "training produced a number that is not finite")                                                 \
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
    int run, runs;             /* which training of how many: the seeds of an evaluation; 0 of 1 for a single fit */
    int rehearsal;             /* 1: a first training that holds out links; the one that counts follows */
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

/* How to run. Handles copy it when they are created. */
typedef struct npgnn_env {
    size_t size;
    int threads; /* 0: all cores that this process may use */
    npgnn_progress_fn *progress;
    npgnn_log_fn *log;
    void *user; /* passed to progress and log */
    /* NULL, or where a signal handler or another thread writes 1 to cancel at once, in the middle of an iteration */
    const volatile int *stop;
    npgnn_allocator allocator; /* resize NULL: malloc */
} npgnn_env;

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
    /* 1: tune the process that was learnt across graphs, and train no network. Of the options below it then uses
     * iterations (passes over the pairs), learning_rate, beta1, beta2, epsilon, seed, calibrate and predict_samples */
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
    double radius;                   /* length that all embeddings are scaled to; 0: unscaled */
    int propagate;                   /* how many times embeddings are averaged over known links */
    double cold_nodes;               /* with propagate: share of the nodes treated as new in each training iteration */
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
    int predict_samples; /* 0: use the mean of z; otherwise average probabilities over this many draws */
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

/* Reads a graph. `data` is "synthetic[:key=value,...]" (see npgnn_graph_synthetic), a folder, a file (edges, .npz,
 * GraphML, JSON), a path such as "dir/ind.cora" for Planetoid's set of files, or a name in the data folder;
 * docs/use/formats.md describes them. It may be NULL if options->edges is set. E_IO, E_FORMAT (with file and line),
 * E_MEMORY. */
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
    float probability; /* of a link, calibrated (npgnn_model_calibrate); averaged over the draws of z */
    float spread;      /* standard deviation of the probability over the draws, 0 without draws */
    float low, high;   /* mean -+ 1.96 standard deviations of the log-odds over the draws, as probabilities;
                          without draws both equal `probability` */
    float score;       /* on a scale of its own (network: docs/understand/math.md, eq. (7)); averaged over the draws */
} npgnn_prediction;

typedef struct npgnn_predict_options {
    size_t size;
    int samples;      /* 0: use the mean of z; more: average over that many draws; -1, as with NULL options: the model's
                         predict_samples */
    uint64_t seed;    /* of the draws */
    double link_rate; /* expected share of links among the pairs asked about, at least 0 and below 1; 0: the
                         model's own; 0.5: ignore how rare links are */
} npgnn_predict_options;

/* Predicts each of `count` pairs of nodes of `graph`, which may be another graph than the model was trained on if it
 * has the same feature columns (E_MISMATCH otherwise): the same names in any order if both have names, otherwise as
 * many columns. Its nodes need features, not edges. To score many batches, use an npgnn_predictor. */
NPGNN_API int npgnn_predict(npgnn_prediction *out /* (count) */, const npgnn_model *model, const npgnn_graph *graph,
                            const npgnn_pair *pairs, size_t count, const npgnn_predict_options *options,
                            const npgnn_env *env, npgnn_error *err);

/* How to divide a graph; docs/use/evaluate.md describes the protocols. Fractions are of edges (transductive, temporal)
 * or of nodes (all others); a negative fraction is the protocol's default: transductive and temporal 10 % test and 5 %
 * validation edges; inductive 5 % test and 2.5 % validation nodes; few-shot 30 % training nodes, the rest test;
 * inductive-hidden 10 % and 10 % of the nodes; production 10 % and 5 % of the nodes, half of whose links are known at
 * prediction time. */
typedef enum {
    NPGNN_TRANSDUCTIVE,
    NPGNN_INDUCTIVE,
    NPGNN_FEW_SHOT,
    NPGNN_INDUCTIVE_HIDDEN, /* only links between two new nodes */
    NPGNN_PRODUCTION,       /* new nodes arrive with some of their links */
    NPGNN_TEMPORAL          /* train on the past, test on the latest links (npgnn_load_options.time) */
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
    double degree_auc; /* AUC against non-links whose ends are drawn in proportion to degree; NaN in npgnn_test */
    /* each end of a test link: the rank of its partner among all nodes that the end is not linked to; NaN unless
     * negatives is NPGNN_NEGATIVES_ALL */
    double full_mrr, full_hits10;
    double full_mrr_se, full_hits10_se; /* standard errors, where the ends are a sample; 0 where all were ranked */
    double full_ends;                   /* how many ends were ranked */
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

/* The graph with new nodes, whose features are read from a file in any form that npgnn_load accepts. They follow the
 * nodes of `graph`, have no links, and are prepared as the graph's nodes were (encoding, normalize, binarize); rows
 * without ids are named by their numbers. E_MISMATCH if a name is taken, or if the columns differ from the graph's: by
 * name if both have names, otherwise by number. */
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
    int32_t featureless; /* nodes whose features are all zero */
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

/* The side of a node of a two-sided graph: 0 for sources, 1 for targets; -1 if the graph is one-sided. In a two-sided
 * graph, non-links are drawn and links are searched across the sides only. */
NPGNN_API int npgnn_graph_side(const npgnn_graph *graph, int32_t node);

/* The class label of a node, or -1. */
NPGNN_API int32_t npgnn_graph_label(const npgnn_graph *graph, int32_t node);

/* Writes the graph as a folder that npgnn_load reads back as the same graph (docs/use/formats.md), including weights
 * (load with `weighted`). The folder must not exist; it appears whole or not at all. E_IO; E_ARGUMENT for a name with a
 * line break. */
NPGNN_API int npgnn_graph_save(const npgnn_graph *graph, const char *folder, npgnn_error *err);

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

/* ---- Split --------------------------------------------------------------------------------------------------- */

/* Divides a graph, which must outlive the split. Non-links are distinct and uniform over the pairs that are not edges
 * of the complete graph (for inductive-hidden and production: over those that join the kinds of nodes that the
 * positives join). E_ARGUMENT if a set would be empty or the graph has too few non-edges. */
NPGNN_API int npgnn_split_new(npgnn_split **out, const npgnn_graph *graph, const npgnn_split_options *options,
                              const npgnn_env *env, npgnn_error *err);

/* Split files have tab-separated columns set, u, v, label (docs/use/formats.md). Reading checks every pair against the
 * graph. */
NPGNN_API int npgnn_split_load(npgnn_split **out, const npgnn_graph *graph, const char *path, const npgnn_env *env,
                               npgnn_error *err);
NPGNN_API int npgnn_split_save(const npgnn_split *split, const char *path, npgnn_error *err);

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
 * aside, infers from them which kind of graph it is (the latent z), fits a few weights, calibrates itself, and then
 * uses all links. It has no embeddings. docs/understand/process.md. */
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
    int across_graphs;       /* 1: a process learnt across graphs, and tuned on one if train_nodes > 0; 0: a network
                                trained on one graph */
} npgnn_model_info;
NPGNN_API int npgnn_model_describe(npgnn_model_info *info, const npgnn_model *model, npgnn_error *err);

/* The options it was trained with. */
NPGNN_API int npgnn_model_options(npgnn_options *options, const npgnn_model *model, npgnn_error *err);

/* The name of a feature column of the graph it was trained on, NULL if that had no names. */
NPGNN_API const char *npgnn_model_column_name(const npgnn_model *model, int32_t column);

/* The table of that graph and its encoding, as npgnn_graph_table and npgnn_graph_encoding have them. A graph that the
 * model is applied to must be loaded with this encoding, or with "raw" if it is NULL. */
NPGNN_API int npgnn_model_table(npgnn_table_column *out, const npgnn_model *model, int32_t index);
NPGNN_API const char *npgnn_model_encoding(const npgnn_model *model);

/* Calibrates the model's probabilities: of the pairs that get probability p, a share of p is linked. Fitted on the
 * validation links of `split` and up to 262,144 non-links of the same kind. Training does this itself unless told not
 * to. E_ARGUMENT if the split has no validation links. O(n) memory as for a predictor. */
NPGNN_API int npgnn_model_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env,
                                    npgnn_error *err);

/* The embeddings u (nodes, output_size) of all nodes of a graph, with z at its mean. E_MISMATCH if the feature columns
 * differ. */
NPGNN_API int npgnn_model_embed(float *embedding, const npgnn_model *model, const npgnn_graph *graph,
                                const npgnn_env *env, npgnn_error *err);

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

/* Model and graph must outlive it. O(n (decoder_hidden + output_size)) memory for any number of draws or pairs, plus
 * 128 n numbers if the model weighs regions. E_CANCELLED if env->stop is set. */
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

/* What "best" means with draws of z: the most probable or, for cautious lists, the highest lower end of the interval.
 * Without draws there is no difference. */
typedef enum { NPGNN_BY_PROBABILITY, NPGNN_BY_LOW } npgnn_rank;

/* What to search; the default is all nodes with all nodes, without the links that the graph has. */
typedef struct npgnn_top_options {
    size_t size;
    const int32_t *from, *to;     /* distinct nodes for the first and the second end; NULL: all */
    int32_t from_count, to_count; /* how many, if given */
    int known;                    /* 1: include links that the graph has */
    double min_probability;       /* leave out pairs whose probability (or `low`) is less; 0 to 1 */
    npgnn_rank rank;
} npgnn_top_options;

/* The k best partners of every node of `from`, best first: those of the i-th are out[i * k] to out[i * k + found[i] -
 * 1]. All pairs are considered, and the result is what npgnn_predictor_run would give for each of them, to the bit, for
 * any number of threads. Pairs are ordered by score (the same order as by probability, but finer) or, with draws of z,
 * by probability (or `low`), then score; ties by node number, smaller first.
 *
 * env.progress is called with `iteration` of `iterations` nodes done; after E_CANCELLED found[i] is 0 for nodes that
 * were not reached. E_ARGUMENT, E_MEMORY. O(from n output_size) operations and O(n output_size) memory, both times the
 * draws, plus some megabytes per thread. Not for two threads at once. */
NPGNN_API int npgnn_predictor_top(npgnn_link *out /* (from, k) */, int32_t *found /* (from) */,
                                  npgnn_predictor *predictor, int32_t k, const npgnn_top_options *options,
                                  npgnn_error *err);

/* The k best links overall, in the same order and found the same way. A pair whose ends could be exchanged is listed
 * once, smaller node first. O(threads k) additional memory. */
NPGNN_API int npgnn_predictor_top_links(npgnn_link *out /* (k) */, int32_t *found, npgnn_predictor *predictor,
                                        int32_t k, const npgnn_top_options *options, npgnn_error *err);
NPGNN_API void npgnn_predictor_free(npgnn_predictor *predictor);

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

/* Measures the calibration of probabilities of links and non-links, which must be for the given link rate. Non-links
 * are weighted such that links are a share of link_rate. E_ARGUMENT if a class is empty or a probability is not in 0 ..
 * 1. O((P + N) log (P + N)). */
NPGNN_API int npgnn_calibration_measure(npgnn_calibration *out, const float *positive, const float *negative,
                                        size_t positives, size_t negatives, double link_rate, const npgnn_env *env,
                                        npgnn_error *err);

/* The all-pairs loss (docs/understand/pairs.md): binary cross-entropy of sigmoid(u_i . u_j) against the links of
 * `graph`, over all n^2 ordered pairs, for the caller's embeddings u (nodes, columns). pairs_per_node 0: exact, O(n^2
 * columns) operations; otherwise an unbiased estimate from about that many pairs per node, O(n pairs_per_node columns).
 * O(n columns) memory either way. */
typedef struct npgnn_pairs_loss npgnn_pairs_loss;
NPGNN_API int npgnn_pairs_loss_new(npgnn_pairs_loss **out, const npgnn_graph *graph, int columns, int pairs_per_node,
                                   npgnn_likelihood likelihood, uint64_t seed, const npgnn_env *env, npgnn_error *err);

/* Returns the loss, and its gradient (nodes, columns) if that is not NULL. `draw` numbers the estimates. Not for two
 * threads at once. */
NPGNN_API double npgnn_pairs_loss_run(float *gradient, npgnn_pairs_loss *loss, const float *embedding, uint32_t draw);
NPGNN_API void npgnn_pairs_loss_free(npgnn_pairs_loss *loss);

/* The speed of this machine's BLAS on a product of large square matrices, on env.threads threads, for comparison. Takes
 * about a second. */
NPGNN_API int npgnn_machine_gflops(double *gflops, const npgnn_env *env, npgnn_error *err);

#ifdef __cplusplus
}
#endif
#endif
