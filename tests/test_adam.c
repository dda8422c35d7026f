/* Adam's learning rate: how it falls, and that the gradient's size does not matter to it. */
#include "check.h"

#include "train/adam.h"

/* Without memory (beta 0) a step is the rate times the sign of the gradient: how far a parameter is after `steps` of
 * them. */
static double distance(npgnn_lr_schedule schedule, int horizon, int iterations, int steps)
{
    npgnn_options o = {.size = sizeof o};
    npgnn_error err = {0};
    npgnn_env env = npi_env_resolve(NULL);
    npi_params params = {0}, gradient = {0};
    npi_adam adam = {0};
    npgnn_options_preset(&o, NULL, NULL);
    o.latent = 0;
    o.decoder_hidden = o.output_size = 2;
    o.input_scale = 1;
    o.beta1 = o.beta2 = 0;
    o.epsilon = 1e-30;
    o.learning_rate = 0.5;
    o.lr_schedule = schedule;
    o.lr_horizon = horizon;
    o.iterations = iterations;
    assert_ok(npi_params_new(&params, npi_sizes_of(&o, 3), &env, &err), err);
    assert_ok(npi_params_new(&gradient, params.size, &env, &err), err);
    assert_ok(npi_adam_new(&adam, params.count, &o, &env, &err), err);
    for (size_t i = 0; i < params.count; i++)
        gradient.block[i] = (real)(i + 1);
    for (int i = 0; i < steps; i++)
        assert_true(npi_adam_step(&adam, &params, &gradient, 1));
    double moved = -(double)params.block[0];
    for (size_t i = 1; i < params.count; i++)
        assert_near(-(double)params.block[i], moved, 1e-6);
    npi_adam_free(&env, &adam);
    npi_params_free(&env, &params);
    npi_params_free(&env, &gradient);
    return moved;
}

static void test_schedules(void **state)
{
    (void)state;
    for (int steps = 0; steps <= 12; steps++) {
        double linear = 0, cosine = 0;
        for (int t = 0; t < steps && t < 8; t++) {
            linear += 0.5 * (1 - t / 8.0);
            cosine += 0.25 * (1 + cos(acos(-1) * t / 8.0));
        }
        assert_near(distance(NPGNN_LR_CONSTANT, 0, 8, steps), 0.5 * steps, 1e-6);
        assert_near(distance(NPGNN_LR_CONSTANT, 3, 8, steps), 0.5 * steps, 1e-6);
        assert_near(distance(NPGNN_LR_LINEAR, 0, 8, steps), linear, 1e-6);
        assert_near(distance(NPGNN_LR_COSINE, 0, 8, steps), cosine, 1e-6);
        assert_near(distance(NPGNN_LR_LINEAR, 8, 100, steps), linear, 1e-6);
        assert_near(distance(NPGNN_LR_COSINE, 8, 100, steps), cosine, 1e-6);
    }
}

static void test_gradients_that_are_not_finite(void **state)
{
    (void)state;
    npgnn_options o = {.size = sizeof o};
    npgnn_error err = {0};
    npgnn_env env = npi_env_resolve(NULL);
    npi_params params = {0}, gradient = {0};
    npi_adam adam = {0};
    npgnn_options_preset(&o, NULL, NULL);
    o.input_scale = 1;
    assert_ok(npi_params_new(&params, npi_sizes_of(&o, 3), &env, &err), err);
    assert_ok(npi_params_new(&gradient, params.size, &env, &err), err);
    assert_ok(npi_adam_new(&adam, params.count, &o, &env, &err), err);
    gradient.block[0] = 1;
    gradient.block[params.count - 1] = (real)NAN;
    assert_false(npi_adam_step(&adam, &params, &gradient, 2));
    assert_true(params.block[0] == 0 && adam.step == 0);
    npi_adam_free(&env, &adam);
    npi_params_free(&env, &params);
    npi_params_free(&env, &gradient);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_gradients_that_are_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
