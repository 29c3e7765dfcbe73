#pragma once

/// All that a program needs to tune a model, or to solve a problem of its own. Every header can be included
/// alone, too.

// Rows from files and arrays, and the road from them to an answer.
#include "yosida/data/reader.hpp"
#include "yosida/data/spectra.hpp"
#include "yosida/model/fitted_model.hpp"
#include "yosida/tune/split_csv.hpp"
#include "yosida/tune/targets.hpp"
#include "yosida/tune/tune.hpp"

// Problems of the library, and what a problem of one's own is made of and checked by.
#include "yosida/data/folds.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/problem/cleaning_problem.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/problem/elastic_net_problem.hpp"
#include "yosida/problem/exact_curve.hpp"
#include "yosida/problem/gradient_check.hpp"
#include "yosida/problem/k_fold_problem.hpp"
#include "yosida/problem/linear_problem.hpp"
#include "yosida/problem/sparse_problem.hpp"

// Solvers with their settings, the loop that runs them, and what judges an answer.
#include "yosida/setting_rules.hpp"
#include "yosida/solver/agils.hpp"
#include "yosida/solver/batch_draws.hpp"
#include "yosida/solver/bic_gaffa.hpp"
#include "yosida/solver/black_box.hpp"
#include "yosida/solver/bome.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/solver/f2sa.hpp"
#include "yosida/solver/forward.hpp"
#include "yosida/solver/hoag.hpp"
#include "yosida/solver/meha.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/my_hpo.hpp"
#include "yosida/solver/my_hpo_1.hpp"
#include "yosida/solver/my_hpo_bt.hpp"
#include "yosida/solver/my_hpo_c.hpp"
#include "yosida/solver/my_hpo_full.hpp"
#include "yosida/solver/oracle.hpp"
#include "yosida/solver/penalty_method.hpp"
#include "yosida/solver/reverse.hpp"
#include "yosida/solver/saba.hpp"
#include "yosida/solver/sho.hpp"
#include "yosida/solver/soba.hpp"
#include "yosida/solver/solve.hpp"
#include "yosida/solver/stn.hpp"

// Search without gradients.
#include "yosida/search/minimize.hpp"

// Studies of many runs, and their report.
#include "yosida/report/figure.hpp"
#include "yosida/report/page.hpp"
#include "yosida/report/study_view.hpp"
#include "yosida/study/builds.hpp"
#include "yosida/study/place.hpp"
#include "yosida/study/run_outcome.hpp"
#include "yosida/study/runner.hpp"
#include "yosida/study/store.hpp"
#include "yosida/study/tuned_run.hpp"

// What holds for all of them.
#include "yosida/error.hpp"
#include "yosida/linalg/blas_kernels.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/stop.hpp"
#include "yosida/version.hpp"
