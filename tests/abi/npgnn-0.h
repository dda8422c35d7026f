/* npgnn: link prediction with Neural Processes for Graph Neural Networks.
 *
 * This header is the manual. It has four parts, each usable without the ones below it:
 *
 *   1. Conventions   errors, environment (threads, memory, progress), options
 *   2. One-shot      load, fit, predict, evaluate: a whole job in one call
 *   3. Handles       graph, split, model, trainer: the same job, step by step
 *   4. Expert parts  the metrics and the all-pairs loss on their own
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
 * Rules that hold for every function:
 *  - What can fail returns 0 or a negative NPGNN_E_* code, and describes the failure in the caller's npgnn_error,
 *    which may be NULL. On failure outputs are untouched and nothing leaks.
 *  - Arguments come in the order outputs, inputs, sizes, options, environment, error. A NULL option struct or
 *    environment means the defaults.
 *  - Every X_free accepts NULL.
 *  - The library never prints, never exits and keeps no mutable global state. Handles are independent: two threads may
 *    use two handles at once, and may share one const handle.
 *  - The same data, options and seed give the same bits, for any number of threads.
 */
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
    X(E_FORMAT, -3, "a file's content is not what it should be")                                                       \
    X(E_ARGUMENT, -4, "an argument or option is out of its range")                                                     \
    X(E_MISMATCH, -5, "two inputs do not belong together")                                                             \
    X(E_DIVERGED, -6, "training produced a number that is not finite")                                                 \
    X(E_CANCELLED, -7, "the progress callback asked to stop")

typedef enum npgnn_code {
#define NPGNN_X(name, value, meaning) NPGNN_##name = value,
    NPGNN_ERRORS(NPGNN_X)
#undef NPGNN_X
} npgnn_code;

/* What went wrong. `text` is a complete sentence for a person; it already names file and line where there are any. */
typedef struct npgnn_error {
    int code;       /* one of npgnn_code */
    int64_t line;   /* line in `file`, 0 where lines do not apply */
    char file[256]; /* the file at fault, "" where none is */
    char text[768];
} npgnn_error;

/* The meaning of a code; never NULL. */
NPGNN_API const char *npgnn_code_text(int code);

/* ---- Environment --------------------------------------------------------------------------------------------- */

/* One function does it all: size 0 frees `block` and returns NULL; block NULL allocates; otherwise resizes. It must
 * return memory aligned for any type, or NULL on failure, in which case `block` stays valid. It may be called from
 * one thread at a time per handle; for a handle that threads share, from any of them at once. */
typedef struct npgnn_allocator {
    void *(*resize)(void *user, void *block, size_t size);
    void *user;
} npgnn_allocator;

/* The steps of an iteration, X(name, text). "back" is the gradient of a step. */
#define NPGNN_STEP_LIST(X)                                                                                             \
    X(CONTEXT, "context")                                                                                              \
    X(FEATURES, "features")                                                                                            \
    X(ENCODER, "encoder")                                                                                              \
    X(DECODER, "decoder")                                                                                              \
    X(PAIRS, "pairs and back")                                                                                         \
    X(DECODER_BACK, "decoder back")                                                                                    \
    X(ENCODER_BACK, "encoder back")                                                                                    \
    X(FEATURES_BACK, "features back")                                                                                  \
    X(ADAM, "Adam")                                                                                                    \
    X(VALIDATION, "validation")

typedef enum npgnn_step {
#define NPGNN_X(name, text) NPGNN_STEP_##name,
    NPGNN_STEP_LIST(NPGNN_X)
#undef NPGNN_X
        NPGNN_STEPS /* how many there are */
} npgnn_step;

/* What to call a step; never NULL. */
NPGNN_API const char *npgnn_step_name(npgnn_step step);

/* State of a job, passed to the progress callback after every iteration. Values not known yet are NaN. */
typedef struct npgnn_progress {
    int run, runs;             /* which training of how many: seeds of an evaluation; 0 of 1 for a single fit */
    int iteration, iterations; /* iterations done, and asked for */
    int validated;             /* 1 when val_auc and val_ap were measured at this iteration */
    int best_iteration;        /* where the best validation so far was measured; 0 before the first */
    double loss;               /* reconstruction + KL */
    double kl;
    double val_auc, val_ap;           /* of the latest validation */
    double seconds;                   /* spent in this training */
    double step_seconds[NPGNN_STEPS]; /* of those, in each step */
} npgnn_progress;

/* Return non-zero to cancel: the call that is running stops with NPGNN_E_CANCELLED, keeping what it has. */
typedef int npgnn_progress_fn(void *user, const npgnn_progress *progress);

/* A notice for people, without a trailing newline: what was merged, skipped or assumed. */
typedef void npgnn_log_fn(void *user, const char *message);

/* How to run. Zero-initialise it, set what matters. Handles copy it when they are made. */
typedef struct npgnn_env {
    int threads; /* 0: all cores that this process may use */
    npgnn_progress_fn *progress;
    npgnn_log_fn *log;
    void *user; /* passed to progress and log */
    const volatile int
        *stop; /* or NULL: where a signal handler or another thread writes 1 to cancel, at once: the iteration
                                  that is under way is given up */
    npgnn_allocator allocator; /* resize NULL: malloc */
} npgnn_env;

/* ---- Options of the model and its training ----------------------------------------------------------------- */

/* Each is one step of the model (docs/math.md has the equations) and one key for npgnn_options_set and for the command
 * line. The paper and its authors' program differ in several of them; docs/math.md says which side each preset takes. */

typedef enum { NPGNN_LINEAR, NPGNN_RELU, NPGNN_SIGMOID } npgnn_activation;
typedef enum { NPGNN_VECTOR, NPGNN_SCALAR } npgnn_aggregate;
typedef enum { NPGNN_MEAN_LOG, NPGNN_LOG_MEAN } npgnn_sigma_mean;
typedef enum { NPGNN_MC_LIKELIHOOD, NPGNN_MC_EMBEDDING } npgnn_monte_carlo;
typedef enum { NPGNN_WEIGHTED, NPGNN_PLAIN } npgnn_likelihood;
typedef enum { NPGNN_CONTEXT_EDGES, NPGNN_CONTEXT_NODES, NPGNN_CONTEXT_AUTO } npgnn_context;
typedef enum { NPGNN_EVIDENCE_ALL, NPGNN_EVIDENCE_FEATURES, NPGNN_EVIDENCE_STRUCTURE } npgnn_evidence;
typedef enum { NPGNN_LR_CONSTANT, NPGNN_LR_LINEAR, NPGNN_LR_COSINE } npgnn_lr_schedule;
typedef enum { NPGNN_LOSS_EXACT, NPGNN_LOSS_SAMPLED, NPGNN_LOSS_AUTO } npgnn_loss;

typedef struct npgnn_options {
    /* encoder */
    int latent;        /* use the latent z at all; 0 is the ablation `--no-latent` */
    int sample_latent; /* 1: a neural process; 0: a conditional one, z is the context's mean, without KL */
    int hidden;        /* width of the first encoder layer */
    int latent_size;   /* width d of z */
    npgnn_activation encoder_output; /* second encoder layer: linear or relu */
    npgnn_aggregate aggregate;       /* vector: mean over nodes; scalar: mean over nodes and dimensions */
    npgnn_sigma_mean sigma_mean;     /* mean-log: exp(mean of log sigma); log-mean: mean of sigma */
    double sigma_start;              /* factor of sigma: about what it is before training */
    npgnn_context context;           /* edges: a share of the edges, all nodes; nodes: a share of the nodes; auto:
                                           nodes for inductive and few-shot splits, edges otherwise */
    double context_fraction;         /* that share */
    /* decoder */
    int decoder_hidden;              /* width of the decoder's hidden layer */
    int output_size;                 /* width k of the node embeddings u */
    npgnn_activation decoder_output; /* linear, relu or sigmoid */
    double input_scale;      /* training acts as if the features were multiplied by it; 0: so that their rows have a
                                        mean square length of 16 */
    double input_dropout;    /* share of the features that a training iteration does not see */
    double radius;           /* length that all embeddings are scaled to; 0: they keep their own */
    int propagate;           /* times the embeddings are averaged over the links that are known */
    int fit_prior;           /* 1: the weights of a score are fitted on the validation pairs, instead of those here: */
    double own_weight;       /* of the inner product of the embeddings */
    double prior_weight;     /* of the cosine of the features */
    double degrees_weight;   /* of the numbers of known links of both nodes */
    double neighbors_weight; /* of neighbours in common */
    double paths_weight;     /* of paths of three links */
    double regions_weight;   /* of lying in the same region of the graph */
    double score_shift;      /* what is added to every score */
    npgnn_evidence evidence; /* with fit_prior: which get a weight besides the embeddings; the others get 0 */
    double cold_nodes;       /* with propagate: share of the nodes that act as new in a training iteration */
    /* objective */
    int samples;                   /* Monte Carlo samples of z an iteration */
    npgnn_monte_carlo monte_carlo; /* likelihood: average log-likelihoods; embedding: average u, then one likelihood */
    npgnn_likelihood likelihood;   /* weighted: edges and non-edges weigh the same; plain: sum over all pairs */
    double kl_weight;              /* factor of the KL term */
    npgnn_loss loss;               /* exact: all pairs; sampled: unbiased estimate; auto: exact up to 10,000 nodes */
    int pairs_per_node;            /* of the sampled loss */
    /* training */
    int iterations;
    double learning_rate, beta1, beta2, epsilon; /* Adam */
    npgnn_lr_schedule lr_schedule;               /* how the learning rate falls: not at all, or to 0 */
    int lr_horizon;                              /* iterations in which it does; 0: all */
    uint64_t seed;
    int validate_every; /* iterations between validations */
    int keep_best;      /* 1: the model is the one of the best validation; 0: of the last iteration */
    int patience;       /* stop after this many validations without a better one; 0: never */
    /* prediction */
    int predict_samples; /* 0: z is its mean; otherwise probabilities averaged over this many draws */
} npgnn_options;

/* Fills `options` with a preset: "default" (the paper's model, where the paper works), "best" (the most accurate, chosen on
 * validation data: docs/best.md), "paper-literal" (the paper to the letter, see docs/math.md) or "authors" (the settings of
 * the authors' released program). NULL is "default". E_ARGUMENT for another name. npgnn_preset_info lists them; it returns 0
 * past the last. */
NPGNN_API int npgnn_preset_info(const char **name, const char **help, int index);
NPGNN_API int npgnn_options_preset(npgnn_options *options, const char *name, npgnn_error *err);

/* Sets or reads one option by its key, as the command line and the model file spell it: "learning-rate", "0.01".
 * npgnn_options_get writes a terminated string, shortened to `size`. E_ARGUMENT for an unknown key or a bad value. */
NPGNN_API int npgnn_options_set(npgnn_options *options, const char *key, const char *value, npgnn_error *err);
NPGNN_API int npgnn_options_get(char *value, size_t size, const npgnn_options *options, const char *key,
                                npgnn_error *err);

/* The option with this index, for listing them all; returns 0 past the last one. The strings are static. */
typedef struct npgnn_option_info {
    const char *key, *values, *help; /* values: "linear|relu", "1..4096": what it takes */
} npgnn_option_info;
NPGNN_API int npgnn_options_info(npgnn_option_info *info, int index);

/* ================================================================================================================
 * 2. One-shot calls
 * ============================================================================================================= */

typedef struct npgnn_graph npgnn_graph;     /* nodes, undirected edges, features */
typedef struct npgnn_split npgnn_split;     /* a graph cut into training, validation and test */
typedef struct npgnn_model npgnn_model;     /* parameters and what is needed to use them */
typedef struct npgnn_trainer npgnn_trainer; /* a training under way */

typedef struct npgnn_pair {
    int32_t u, v; /* node indices, 0 .. nodes - 1 */
} npgnn_pair;

/* How to read a graph. Zero-initialise it for the defaults. */
typedef struct npgnn_load_options {
    const char *edges;    /* edge file, or NULL: DATA tells */
    const char *features; /* feature file, or NULL: DATA tells */
    const char *data_dir; /* where names are looked up; NULL: $NPGNN_DATA, then the XDG cache folder */
    int normalize;        /* 1: divide each feature row by its sum of magnitudes */
    int binarize;         /* 1: every non-zero feature becomes 1 (before normalising) */
    int weighted;         /* 1: links keep the weights that the files give them; 0: all weigh the same */
} npgnn_load_options;

/* The folders in which names are looked up where data_dir is NULL: $NPGNN_DATA, then npgnn in the XDG cache folder. Writes the
 * index-th that there is, as a terminated string; returns 0 past the last, and for one that is longer than `size`. */
NPGNN_API int npgnn_data_folder(char *path, size_t size, int index);

/* Reads a graph. `data` is "synthetic[:key=value,...]" (see npgnn_graph_synthetic), a folder, a file
 * (edges, .npz, GraphML, JSON), a path such as "dir/ind.cora" for Planetoid's set of files, or a name in the data folder: docs/formats.md
 * has them all. It may be NULL when options->edges is set.
 * E_IO, E_FORMAT (with file and line), E_MEMORY. */
NPGNN_API int npgnn_load(npgnn_graph **out, const char *data, const npgnn_load_options *options, const npgnn_env *env,
                         npgnn_error *err);

/* Trains on all edges of the graph. A first training, on a part of them, finds what only held-out links can tell: what the
 * scores mean as probabilities and, where the options ask for it (keep_best, fit_prior), the number of iterations and the weights
 * of a score; the second, on all, makes the model. E_ARGUMENT, E_MEMORY, E_DIVERGED, E_CANCELLED. O(iterations * n^2 * k)
 * flops with the exact loss, O(iterations * (n * pairs_per_node * k + features)) with the sampled one; O(n (h + k)) memory. */
NPGNN_API int npgnn_fit(npgnn_model **out, const npgnn_graph *graph, const npgnn_options *options, const npgnn_env *env,
                        npgnn_error *err);

/* What is said of a pair of nodes. */
typedef struct npgnn_prediction {
    float probability; /* of a link, calibrated: see npgnn_model_calibrate; averaged over the draws */
    float spread;      /* standard deviation of the probability over the draws of z, 0 without draws */
    float low, high; /* mean -+ 1.96 standard deviations of the log-odds over the draws, as probabilities; without draws
                            both are `probability` */
    float score;     /* what the model says, on a scale of its own (docs/math.md, eq. (15)); averaged over the draws */
} npgnn_prediction;

/* samples 0: z is its mean; more: averages over that many draws of z; negative: the model's predict_samples, which is what
 * NULL options take. link_rate is the share of the pairs asked about that are expected to be links (docs/uncertainty.md): 0 is
 * the model's own, 0.5 forgets how rare links are. E_ARGUMENT unless 0 <= link_rate < 1. */
typedef struct npgnn_predict_options {
    int samples;
    uint64_t seed;
    double link_rate;
} npgnn_predict_options;

/* Predicts each of `count` pairs of nodes of `graph`. The nodes need features, not edges: the graph may be another one than
 * the model was trained on, as long as its feature columns are the same (E_MISMATCH otherwise): those with the same names, in any
 * order, where both have names, as many otherwise. To score many batches, use an npgnn_predictor. */
NPGNN_API int npgnn_predict(npgnn_prediction *out /* (count) */, const npgnn_model *model, const npgnn_graph *graph,
                            const npgnn_pair *pairs, size_t count, const npgnn_predict_options *options,
                            const npgnn_env *env, npgnn_error *err);

/* How to cut a graph; see docs/protocols.md. Fractions are of edges (transductive) or nodes (the others); a negative
 * fraction is the protocol's default: transductive 10 % test and 5 % validation edges; inductive 5 % test and 2.5 %
 * validation nodes; few-shot 30 % training nodes, the rest test; inductive-hidden 10 % and 10 % of the nodes; production 10 %
 * and 5 % of the nodes, half of whose links are known when predicting. Use npgnn_split_options_default to start. */
typedef enum {
    NPGNN_TRANSDUCTIVE,
    NPGNN_INDUCTIVE,
    NPGNN_FEW_SHOT,
    NPGNN_INDUCTIVE_HIDDEN, /* links between two new nodes alone */
    NPGNN_PRODUCTION        /* new nodes arrive with some of their links */
} npgnn_protocol;
#define NPGNN_RATIO_FULL (-1.0)
typedef struct npgnn_split_options {
    npgnn_protocol protocol;
    double test, val;   /* fractions */
    double train_nodes; /* few-shot: fraction of the nodes known in training */
    uint64_t seed;
    double negative_ratio; /* non-links for each link of a held-out set, at least 1; NPGNN_RATIO_FULL: as rare as links
                              are in the graph; 0: 1 */
    double known_links; /* production: fraction of a new node's links that are known when predicting; negative: 0.5 */
} npgnn_split_options;
NPGNN_API void npgnn_split_options_default(npgnn_split_options *options, npgnn_protocol protocol);

/* What a link is ranked against; see docs/evaluation.md. Uniform: the non-links of the test set. Hard: besides, 500 non-links
 * of its own that look like links. */
typedef enum { NPGNN_NEGATIVES_UNIFORM, NPGNN_NEGATIVES_HARD } npgnn_negatives;

/* Whether probabilities are true (docs/uncertainty.md). Non-links are a sample of all: they weigh so that links are a share of
 * link_rate. */
typedef struct npgnn_bin {
    double pairs;               /* how many, by weight */
    double predicted, observed; /* mean probability, and share that is linked; NaN where that is not known */
} npgnn_bin;

enum { NPGNN_BINS = 10, NPGNN_TOPS = 3 };

typedef struct npgnn_calibration {
    double link_rate;
    double ece;          /* expected calibration error: mean over pairs of |predicted - observed| in the pair's bin, of
                                 NPGNN_BINS bins of equal width. Small wherever links are rare: see the next two */
    double balanced_ece; /* the same for a link rate of 1/2 */
    double link_ece;     /* mean over links, of bins with equally many links each */
    double log_loss, brier; /* means over pairs of -log of the probability of the truth, and of the squared error */
    double skill; /* 1 - log_loss / the log loss of giving every pair link_rate: 0 is knowing nothing, 1 everything */
    npgnn_bin bins[NPGNN_BINS]; /* the reliability diagram: a tenth of the links each, those with the highest first */
    npgnn_bin
        top[NPGNN_TOPS]; /* the 10, 100 and 1000 most likely: `predicted` is the precision to expect of them. `observed`
                                   is NaN where one non-link of the sample stands for more than a tenth of them */
} npgnn_calibration;

/* What one seed came to. */
typedef struct npgnn_eval_run {
    uint64_t seed, split_hash;
    int iterations;                     /* trained */
    int best_iteration;                 /* whose parameters were tested */
    double auc, ap;                     /* test pairs, fractions of 1 */
    double mrr, hits1, hits10, hits100; /* each test edge ranked against all test non-edges */
    double hard_mrr, hard_hits1, hard_hits10,
        hard_hits100;       /* ... against hard non-edges of its own, NaN without them */
    double val_auc, val_ap; /* validation pairs, NaN where there are none */
    /* 95 % bootstrap intervals, low and high, of the mean over the seeds up to this one: those of the last run are the
     * evaluation's. NaN without bootstrap. */
    double auc_interval[2], ap_interval[2];
    npgnn_calibration calibration; /* at the link rate of the test pairs; of calibrated methods, otherwise NaN */
    double train_seconds;
} npgnn_eval_run;

/* Gets the scores of a seed's test pairs, `positives` links first: for curves, thresholds, a second look. */
typedef void npgnn_scores_fn(void *user, const npgnn_eval_run *run, const float *scores, size_t positives,
                             size_t count);

/* Split, train, test, once per seed. Seed s trains with options.seed = s and, unless `fixed` is given, on the split of
 * seed s. `runs` has room for `seeds` results; those of finished seeds are valid even when the call is cancelled. */
typedef struct npgnn_eval_options {
    const char *method;        /* one of npgnn_method_info; NULL: "npgnn" */
    npgnn_options model;       /* its seed is ignored */
    npgnn_split_options split; /* its seed is ignored */
    const npgnn_split *fixed;  /* use this split for every seed, or NULL */
    uint64_t first_seed;
    npgnn_scores_fn *scores; /* called after each seed, or NULL */
    void *scores_user;       /* passed to it */
    npgnn_negatives negatives;
    int bootstrap; /* resamples of the test pairs, for intervals; 0: none */
} npgnn_eval_options;

/* The index-th method; returns 0 past the last. The strings are static. */
NPGNN_API int npgnn_method_info(const char **name, const char **help, int index);

NPGNN_API void npgnn_eval_options_default(npgnn_eval_options *options, npgnn_protocol protocol);
NPGNN_API int npgnn_evaluate(npgnn_eval_run *runs /* (seeds) */, const npgnn_graph *graph, int seeds,
                             const npgnn_eval_options *options, const npgnn_env *env, npgnn_error *err);

/* ---- Transfer: what is a model worth on a graph that it was not trained on? docs/adapt.md ---- */

/* Three ways to predict there. */
typedef enum {
    NPGNN_OLD_LATENT,   /* the model as it is */
    NPGNN_NEW_LATENT,   /* the model with z encoded from the known links of the new graph: npgnn_model_adapt */
    NPGNN_FROM_SCRATCH, /* another one, trained on the known links of the new graph */
    NPGNN_TRANSFER_WAYS
} npgnn_transfer_way;

typedef struct npgnn_transfer_run {
    npgnn_eval_run
        way[NPGNN_TRANSFER_WAYS]; /* on the same test pairs; train_seconds of the new latent: of encoding it */
    double shift; /* how far the mean of z moved, in its standard deviations (root mean square); NaN without latent */
} npgnn_transfer_run;

typedef struct npgnn_transfer_options {
    npgnn_options model;  /* for every training; its seed is ignored */
    double train_nodes;   /* share of the nodes in the first part, which is trained on */
    double context_nodes; /* share of the nodes in the second, where the model is tried */
    int grow;    /* 0: the parts have no node in common; 1: the nodes of the first are among those of the second */
    double test; /* share of the links of the second part that are hidden, to be tested */
    uint64_t first_seed;
} npgnn_transfer_options;
NPGNN_API void npgnn_transfer_options_default(npgnn_transfer_options *options); /* 0.3, 0.7, 0, 0.1 */

/* Cuts the graph in two, trains on the first part and tests on the second, once per seed; or, with a `model`, tests that on all
 * of the graph. No link that is tested is known to any of the ways. Results as for npgnn_evaluate. */
NPGNN_API int npgnn_transfer(npgnn_transfer_run *runs /* (seeds) */, const npgnn_graph *graph, const npgnn_model *model,
                             int seeds, const npgnn_transfer_options *options, const npgnn_env *env, npgnn_error *err);

/* Judges a model on pairs of the caller's: `positives` links first, then non-links. Where there are none of the latter, they are
 * drawn from all pairs that are no links. Links of the graph that are among the pairs are taken out of it before anything is
 * scored, for a model looks at known links; that it may have learnt from them cannot be undone. */
typedef struct npgnn_test_options {
    npgnn_negatives negatives; /* HARD: also 500 for each link that look like links */
    double negative_ratio;     /* non-links drawn for each link; 0: 1 */
    int keep_known;            /* 1: leave the graph as it is */
    int samples;               /* as in npgnn_predict_options; NULL options take the model's */
    uint64_t seed;             /* of draws and resamples */
    double link_rate;          /* that calibration is measured at; 0: the model's */
    int bootstrap;
} npgnn_test_options;

typedef struct npgnn_test_result {
    npgnn_eval_run run;             /* without split and seconds */
    size_t links, non_links, drawn; /* tested; drawn: of the non-links */
    size_t known_links;             /* of the links, different ones that the graph has */
    size_t known_non_links;         /* pairs labelled as non-links that the graph has as links */
} npgnn_test_result;

/* E_ARGUMENT without a link, for nodes that are not in the graph, and for pairs with both labels. */
NPGNN_API int npgnn_test(npgnn_test_result *out, const npgnn_model *model, const npgnn_graph *graph,
                         const npgnn_pair *pairs, size_t positives, size_t count, const npgnn_test_options *options,
                         const npgnn_env *env, npgnn_error *err);

/* ================================================================================================================
 * 3. Handles
 * ============================================================================================================= */

/* ---- Graph: immutable once made ---------------------------------------------------------------------------- */

/* From arrays: edges in any order and direction (duplicates and self loops are merged and counted), features as a
 * row-major matrix (nodes, columns) or NULL. The arrays are copied. E_ARGUMENT for an id out of range or a feature that
 * is not finite. O(edges + nodes * columns). */
NPGNN_API int npgnn_graph_from_arrays(npgnn_graph **out, const npgnn_pair *edges, const float *features, int32_t nodes,
                                      int64_t edge_count, int32_t columns, const npgnn_env *env, npgnn_error *err);

/* The same with features in CSR: row i has columns col[ptr[i] .. ptr[i + 1]) and values val there (NULL: all 1). */
NPGNN_API int npgnn_graph_from_csr(npgnn_graph **out, const npgnn_pair *edges, const int64_t *ptr, const int32_t *col,
                                   const float *val, int32_t nodes, int64_t edge_count, int32_t columns,
                                   const npgnn_env *env, npgnn_error *err);

/* The graph with new nodes, of which only features are known: those in a file, in any form that npgnn_load takes for features,
 * after the nodes of `graph`. They are prepared as the graph's were (normalize, binarize) and have no links; rows without ids are
 * called by their numbers. E_MISMATCH where a name is taken, or where the columns are not those of the graph: by name where both
 * have names, otherwise by number. */
NPGNN_API int npgnn_graph_extend(npgnn_graph **out, const npgnn_graph *graph, const char *features, npgnn_error *err);

/* A citation-like graph: topics, skewed degrees, bag-of-words features; some links follow from the features, some only
 * from the structure (docs/synthetic.md). `spec` is "key=value,..." or NULL; keys: nodes, topics, words, degree, length,
 * seed. Deterministic; 100 to millions of nodes. */
NPGNN_API int npgnn_graph_synthetic(npgnn_graph **out, const char *spec, const npgnn_env *env, npgnn_error *err);

typedef struct npgnn_graph_info {
    int32_t nodes;
    int64_t edges; /* undirected, each counted once, no self loops */
    int32_t columns;
    int64_t nonzeros;    /* of the features */
    int features_dense;  /* how they are stored */
    int32_t isolated;    /* nodes without an edge */
    int32_t featureless; /* nodes whose features are all zero */
    int32_t max_degree;
    int32_t classes;           /* distinct labels, 0 where there are none */
    int weighted;              /* links have weights */
    int64_t input_edges;       /* edges as read, before merging */
    int64_t merged_duplicates; /* the same pair again, in the same direction */
    int64_t merged_reverse;    /* the same pair again, in the other direction */
    int64_t dropped_self_loops;
    uint64_t fingerprint; /* of structure and features: what a model file remembers */
} npgnn_graph_info;

NPGNN_API void npgnn_graph_describe(npgnn_graph_info *info, const npgnn_graph *graph);
NPGNN_API int32_t npgnn_graph_nodes(const npgnn_graph *graph);
NPGNN_API int64_t npgnn_graph_edges(const npgnn_graph *graph);

/* The neighbours of a node, ascending; valid as long as the graph. Returns their number. */
NPGNN_API int64_t npgnn_graph_neighbors(const int32_t **neighbors, const npgnn_graph *graph, int32_t node);
NPGNN_API int npgnn_graph_has_edge(const npgnn_graph *graph, int32_t u, int32_t v);

/* The weight of a link: 1 where the graph has no weights, 0 where there is no link. */
NPGNN_API float npgnn_graph_weight(const npgnn_graph *graph, int32_t u, int32_t v);

/* The external name of a node, as its file spelt it; the decimal index where the file had none. `buffer` of at least 12
 * bytes is used for the latter. */
NPGNN_API const char *npgnn_graph_name(const npgnn_graph *graph, int32_t node, char buffer[12]);

/* The node with this name, or -1. O(1). */
NPGNN_API int32_t npgnn_graph_find(const npgnn_graph *graph, const char *name);

/* The part of a graph on `count` of its nodes, in ascending order, and the edges among them: node i of it is nodes[i] of
 * `graph`, with its name, label and features. E_ARGUMENT where the nodes are not ascending or not in the graph. */
NPGNN_API int npgnn_graph_part(npgnn_graph **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count,
                               npgnn_error *err);

/* The class label of a node, -1 where it has none. */
NPGNN_API int32_t npgnn_graph_label(const npgnn_graph *graph, int32_t node);

/* Writes the graph as a folder (docs/formats.md) that npgnn_load reads back as the same graph, weights where it has some included
 * (load with `weighted` then). The folder appears whole or not at all, and must not be there before: E_IO. E_ARGUMENT for a name
 * with a line break. */
NPGNN_API int npgnn_graph_save(const npgnn_graph *graph, const char *folder, npgnn_error *err);

/* The name of a feature column (0 .. columns - 1), as its file spelt it; NULL where the file had none. Columns have names all or
 * none, in UTF-8, all different. */
NPGNN_API const char *npgnn_graph_column_name(const npgnn_graph *graph, int32_t column);
NPGNN_API void npgnn_graph_free(npgnn_graph *graph);

/* ---- Split --------------------------------------------------------------------------------------------------- */

/* Cuts a graph. Negatives are uniform over the pairs of the complete graph that are not edges (for inductive-hidden and
 * production: over those that join the kinds of nodes that the positives join), all different. The graph must outlive the split. E_ARGUMENT where a set would be empty or the graph has too
 * few non-edges. */
NPGNN_API int npgnn_split_new(npgnn_split **out, const npgnn_graph *graph, const npgnn_split_options *options,
                              const npgnn_env *env, npgnn_error *err);

/* Split files: tab-separated columns set, u, v, label (docs/formats.md). Reading checks every pair against the graph. */
NPGNN_API int npgnn_split_load(npgnn_split **out, const npgnn_graph *graph, const char *path, const npgnn_env *env,
                               npgnn_error *err);
NPGNN_API int npgnn_split_save(const npgnn_split *split, const char *path, npgnn_error *err);

typedef enum { NPGNN_SET_VAL, NPGNN_SET_TEST } npgnn_set;

/* The pairs of a held-out set: `positives` links first, then the non-links; valid as long as the split. */
NPGNN_API size_t npgnn_split_pairs(const npgnn_pair **pairs, size_t *positives, const npgnn_split *split,
                                   npgnn_set set);

/* What is known in training. Its node i is node (*map)[i] of the complete graph, or node i where *map is NULL: all nodes are
 * known. `map` itself may be NULL. */
NPGNN_API const npgnn_graph *npgnn_split_train(const int32_t **map, const npgnn_split *split);
NPGNN_API npgnn_protocol npgnn_split_protocol(const npgnn_split *split);
NPGNN_API uint64_t npgnn_split_hash(const npgnn_split *split);

/* Verifies that no held-out pair or node leaks into training or into another set, in either direction: run by
 * npgnn_split_new and npgnn_split_load; public so that a test can ask again. E_MISMATCH names the first leak. */
NPGNN_API int npgnn_split_check(const npgnn_split *split, npgnn_error *err);
NPGNN_API void npgnn_split_free(npgnn_split *split);

/* ---- Trainer ------------------------------------------------------------------------------------------------- */

/* A training on the known part of `split`, validated on its validation pairs; or on all of `graph` when split is NULL. Where the
 * options ask for validation (keep_best, fit_prior) and there are no validation pairs, a first training, the rehearsal, holds
 * some of the known links out and finds the number of iterations and the weight of the prior; a second one, which counts from
 * zero again, uses them on all that is known. Everything the iterations of a training need is allocated before the first. Graph
 * and split must outlive the trainer. */
NPGNN_API int npgnn_trainer_new(npgnn_trainer **out, const npgnn_graph *graph, const npgnn_split *split,
                                const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

/* One iteration; after the last one of a rehearsal, the first of the training proper. `progress` may be NULL. E_DIVERGED leaves
 * the parameters of the iteration before; after E_MEMORY, which only that change can give, the trainer can do no more. */
NPGNN_API int npgnn_trainer_step(npgnn_progress *progress, npgnn_trainer *trainer, npgnn_error *err);

/* Iterates to the end, calling env.progress; honours validation, patience and cancellation. */
NPGNN_API int npgnn_trainer_run(npgnn_trainer *trainer, npgnn_error *err);

/* For a training without validation pairs whose options ask for what only held-out links can tell (keep_best, fit_prior):
 * trains on a part of the known links, and puts what did best on the others, iterations and weights, into `options` in place of the
 * wish. With validation pairs, or without such a wish, it does nothing. npgnn_fit does this by itself. */
NPGNN_API int npgnn_options_settle(npgnn_options *options, const npgnn_graph *graph, const npgnn_split *split,
                                   const npgnn_env *env, npgnn_error *err);

/* Where it stands. */
NPGNN_API void npgnn_trainer_progress(npgnn_progress *progress, const npgnn_trainer *trainer);

/* Checkpoints. Saving writes all that the rest of the training depends on to a file (docs/formats.md), atomically; the file that
 * was there before stays as PATH.prev. It may be called between iterations: from env.progress, too. E_IO, E_MEMORY.
 *
 * Restoring puts a trainer that was made from the same graph, split and options to where the saved one stood: it goes on to the
 * very bits, with any number of threads. E_MISMATCH names what differs; E_FORMAT is a damaged file, and names the one before
 * it where that is whole. Both leave the trainer as it was. */
NPGNN_API int npgnn_trainer_save(npgnn_trainer *trainer, const char *path, npgnn_error *err);
NPGNN_API int npgnn_trainer_restore(npgnn_trainer *trainer, const char *path, npgnn_error *err);

/* The options that the trainer in a checkpoint was made with. */
NPGNN_API int npgnn_checkpoint_options(npgnn_options *options, const char *path, const npgnn_env *env,
                                       npgnn_error *err);

/* The model as it stands (the best one with keep_best), as a new handle. Also after E_CANCELLED or E_DIVERGED. */
NPGNN_API int npgnn_trainer_model(npgnn_model **out, const npgnn_trainer *trainer, npgnn_error *err);
NPGNN_API void npgnn_trainer_free(npgnn_trainer *trainer);

/* ---- Model --------------------------------------------------------------------------------------------------- */

/* A model file is a safetensors file (docs/formats.md). Writing is atomic: a failure leaves an older file whole. Loading
 * gives back the same bits. */
NPGNN_API int npgnn_model_save(const npgnn_model *model, const char *path, npgnn_error *err);
NPGNN_API int npgnn_model_load(npgnn_model **out, const char *path, const npgnn_env *env, npgnn_error *err);

typedef struct npgnn_model_info {
    int32_t columns;              /* features it expects */
    int64_t parameters;           /* numbers learnt */
    int iterations;               /* trained */
    uint64_t fingerprint;         /* of the graph it was trained on */
    uint64_t context_fingerprint; /* of the graph that z was encoded from: the same, but after npgnn_model_adapt */
    int32_t train_nodes;
    int64_t train_edges;
    int normalize, binarize; /* how the features were prepared */
    int weighted;            /* the links had weights */
    double val_auc, val_ap;  /* at its best validation, NaN where there was none */
    int calibrated;   /* 1: what a score means as a probability was fitted; 0: the training objective's word for it */
    double link_rate; /* share of the pairs of the training graph, or of that of npgnn_model_adapt, that are links */
    char version[16]; /* of the library that wrote it */
} npgnn_model_info;
NPGNN_API void npgnn_model_describe(npgnn_model_info *info, const npgnn_model *model);
NPGNN_API void npgnn_model_options(npgnn_options *options, const npgnn_model *model);

/* The name of the feature column of the graph it was trained on, NULL where that had none. */
NPGNN_API const char *npgnn_model_column_name(const npgnn_model *model, int32_t column);

/* Makes the model's probabilities true: fits how they rise with the score, so that of the pairs that get probability p a share
 * of p is linked, on the validation links of `split` and on up to 262,144 non-links of the same kind (docs/uncertainty.md). npgnn_fit does it by
 * itself. E_ARGUMENT where the split has no validation links. O(n) memory as a predictor has. */
NPGNN_API int npgnn_model_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env,
                                    npgnn_error *err);

/* The embeddings u (nodes, output_size) of all nodes of a graph, with z at its mean: the score of a pair is the inner
 * product of its rows. E_MISMATCH where the feature columns differ. */
NPGNN_API int npgnn_model_embed(float *embedding, const npgnn_model *model, const npgnn_graph *graph,
                                const npgnn_env *env, npgnn_error *err);

/* The distribution of z: the mean and standard deviation of each of its `latent_size` numbers; either may be NULL. Returns how
 * many there are: 0 for a model without latent. */
NPGNN_API int npgnn_model_latent(float *mean, float *sigma, const npgnn_model *model);

/* The model for a graph that it was not trained on: a copy whose z is encoded from `context`, by the encoder as it is. Nothing
 * is trained, and `model` stays what it was. From then on `context` is what the copy knows of the world as a whole; the links
 * that it averages over (option propagate) are those of the graph that it predicts on. A model without latent is copied as it
 * is. E_MISMATCH where the feature columns differ, E_ARGUMENT for a graph without nodes, E_DIVERGED where its features are so
 * large that z is not finite. O(n hidden) memory, one pass over edges and features. docs/adapt.md tells what it is worth. */
NPGNN_API int npgnn_model_adapt(npgnn_model **out, const npgnn_model *model, const npgnn_graph *context,
                                const npgnn_env *env, npgnn_error *err);
NPGNN_API void npgnn_model_free(npgnn_model *model);

/* ---- Predictor: a model applied to the nodes of a graph, ready for any number of pairs --------------------------- */

typedef struct npgnn_predictor npgnn_predictor;

/* Both must outlive it. O(n (decoder_hidden + output_size)) memory, whatever the number of draws or pairs, and 128 n numbers
 * where the model weighs regions. E_CANCELLED where env->stop asks for it. */
NPGNN_API int npgnn_predictor_new(npgnn_predictor **out, const npgnn_model *model, const npgnn_graph *graph,
                                  const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err);

/* E_ARGUMENT for a node that is not in the graph. With draws, every call decodes all nodes once per draw: pass pairs in
 * large batches. The answer for a pair does not depend on the batch it comes in. Not for two threads at once. */
NPGNN_API int npgnn_predictor_run(npgnn_prediction *out /* (count) */, npgnn_predictor *predictor,
                                  const npgnn_pair *pairs, size_t count, npgnn_error *err);

/* A pair that was found, with what is said of it. */
typedef struct npgnn_link {
    npgnn_pair pair;
    npgnn_prediction prediction;
    int known; /* 1: the graph has this link */
} npgnn_link;

/* What is best, with draws of z: the most probable, or, for cautious lists, what has the highest lower end of its interval. Without
 * draws there is no difference. */
typedef enum { NPGNN_BY_PROBABILITY, NPGNN_BY_LOW } npgnn_rank;

/* What to search. Zero-initialise it for all nodes with all nodes, leaving out the links that the graph has. */
typedef struct npgnn_top_options {
    const int32_t *from, *to;     /* the nodes at the first and at the second end, none twice; NULL: all */
    int32_t from_count, to_count; /* how many they are, where they are given */
    int known;                    /* 1: links that the graph has take part */
    double min_probability;       /* leave out what is less probable, or whose `low` is less; 0 to 1 */
    npgnn_rank rank;
} npgnn_top_options;

/* The k best partners of every node of `from`, best first: those of the i-th are out[i * k] to out[i * k + found[i] - 1]. All
 * pairs take part, and the result is what npgnn_predictor_run for each of them would give, to the bit, for any number of
 * threads: pairs are ordered by score (the same order as by probability, but finer) or, with draws of z, by probability (or `low`) and
 * then score; equals by the numbers of their nodes, the smaller first. docs/predict.md tells how.
 *
 * The environment's progress is called with `iteration` of `iterations` nodes done; after E_CANCELLED found[i] is 0 for nodes
 * that were not reached. E_ARGUMENT, E_MEMORY. O(from n output_size) flops, times the draws; O(n output_size) memory, times the
 * draws, and some megabytes a thread. Not for two threads at once. */
NPGNN_API int npgnn_predictor_top(npgnn_link *out /* (from, k) */, int32_t *found /* (from) */,
                                  npgnn_predictor *predictor, int32_t k, const npgnn_top_options *options,
                                  npgnn_error *err);

/* The k best links of all, in the same order and found the same way. A pair whose ends could change places is there once, with
 * the smaller node first. O(threads k) memory besides. */
NPGNN_API int npgnn_predictor_top_links(npgnn_link *out /* (k) */, int32_t *found, npgnn_predictor *predictor,
                                        int32_t k, const npgnn_top_options *options, npgnn_error *err);
NPGNN_API void npgnn_predictor_free(npgnn_predictor *predictor);

/* ---- Estimates: what will a job take? -------------------------------------------------------------------------------- */

/* Measured, not calculated: a short job of the same kind (6 iterations, one seed, some of the nodes or pairs) is run in memory that is
 * counted, and its time is scaled up. That takes seconds; nothing is kept. */
typedef struct npgnn_cost {
    int64_t bytes;  /* the most memory at a time, besides graph, split and model, and the array that results go to */
    double seconds; /* at most: what patience or an early best iteration will save is not known */
    int64_t steps;  /* iterations of all trainings, nodes of a search, or pairs, */
    double step_seconds; /* and what one takes, validation aside; 0 where there are none or it is too quick to tell */
} npgnn_cost;

/* Each takes what the job itself takes, fails as that does, and honours env.progress, which sees the short job. Of npgnn_fit, or, with a
 * split, of a training on that, with its calibration: */
NPGNN_API int npgnn_estimate_fit(npgnn_cost *out, const npgnn_graph *graph, const npgnn_split *split,
                                 const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

/* Methods with a number of iterations of their own are stopped after 6 of them: what they need afterwards is not seen. */
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
 * 4. Expert parts
 * ============================================================================================================= */

/* Area under the ROC curve and average precision, ties as scikit-learn counts them. O((P + N) log (P + N)).
 * E_ARGUMENT when a class is empty or a score is NaN. */
NPGNN_API int npgnn_auc_ap(double *auc, double *ap, const float *positive, const float *negative, size_t positives,
                           size_t negatives, const npgnn_env *env, npgnn_error *err);

/* Rank of each positive among all negatives, ties counted as half: mean reciprocal rank, and the share of positives
 * whose rank is at most k[i], for each of `ks` values. */
NPGNN_API int npgnn_mrr_hits(double *mrr, double *hits /* (ks) */, const float *positive, const float *negative,
                             size_t positives, size_t negatives, const int *k, size_t ks, const npgnn_env *env,
                             npgnn_error *err);

/* Whether probabilities of links and non-links are true, the latter weighing so that links are a share of link_rate of all: the
 * probabilities must be for that rate. E_ARGUMENT when a class is empty or a probability is not in 0 .. 1.
 * O((P + N) log (P + N)). */
NPGNN_API int npgnn_calibration_measure(npgnn_calibration *out, const float *positive, const float *negative,
                                        size_t positives, size_t negatives, double link_rate, const npgnn_env *env,
                                        npgnn_error *err);

/* The all-pairs loss (docs/pairs.md): binary cross-entropy of sigmoid(u_i . u_j) against the links of `graph`, over all n²
 * ordered pairs, for embeddings u (nodes, columns) of the caller's. pairs_per_node 0: exact, O(n² columns) flops; otherwise
 * an unbiased estimate from about that many pairs a node, O(n pairs_per_node columns). O(n columns) memory either way. */
typedef struct npgnn_pairs_loss npgnn_pairs_loss;
NPGNN_API int npgnn_pairs_loss_new(npgnn_pairs_loss **out, const npgnn_graph *graph, int columns, int pairs_per_node,
                                   npgnn_likelihood likelihood, uint64_t seed, const npgnn_env *env, npgnn_error *err);

/* Returns the loss, and its gradient (nodes, columns) where that is not NULL. `draw` tells one estimate from the next. Not
 * for two threads at once. */
NPGNN_API double npgnn_pairs_loss_run(float *gradient, npgnn_pairs_loss *loss, const float *embedding, uint32_t draw);
NPGNN_API void npgnn_pairs_loss_free(npgnn_pairs_loss *loss);

/* What this machine's BLAS does on a product of large square matrices, on env.threads threads: what speeds are compared
 * with. Takes about a second. */
NPGNN_API int npgnn_machine_gflops(double *gflops, const npgnn_env *env, npgnn_error *err);

#ifdef __cplusplus
}
#endif
#endif
