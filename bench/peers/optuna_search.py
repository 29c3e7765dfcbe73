#!/usr/bin/python3
"""The samplers of this library beside Optuna's TPE: trials needed, and time per proposal.

    bench/peers/optuna_search.py build/release/bench/bench_search [--seeds 50] [--trials 300] [--box-seeds 20] [--box-trials 100] [--asks 50]

Trials needed: how many until a value is within 1 % of the function's range of its minimum, the median over the
seeds (seeds that never come there count as more than --trials), and the share of seeds that are there after
60. In several dimensions: how far above the minimum the best of --box-trials is, the median over --box-seeds. Time: of one proposal after 1000 trials, storage in memory, the median over --asks.

Wants Optuna: apt-get install python3-optuna (Debian 12 has 3.1).
"""
import argparse
import math
import random
import statistics
import subprocess
import sys
import time
import warnings

try:
    import optuna
except ImportError:
    sys.exit("optuna is missing: apt-get install python3-optuna, and run this with /usr/bin/python3")

NEEDED_AT = 60


def rastrigin(x):
    return 10.0 + x * x - 10.0 * math.cos(2.0 * math.pi * x)


# As in tests/search/functions.hpp: function, bounds, minimum, maximum.
FUNCTIONS = {
    "rastrigin": (rastrigin, -5.12, 5.12, 0.0, 40.353290193838954),
    "shifted-rastrigin": (lambda x: rastrigin(x - 1.7), -5.12, 5.12, 0.0, 62.465920465026069),
    "forrester": (lambda x: (6.0 * x - 2.0) ** 2 * math.sin(12.0 * x - 4.0), 0.0, 1.0,
                  -6.0207400557670825, 15.829731945974107),
    "gramacy-lee": (lambda x: math.sin(10.0 * math.pi * x) / (2.0 * x) + (x - 1.0) ** 4, 0.5, 2.5,
                    -0.86901113498949982, 5.0625),
}


def branin(x):
    a, b = 15.0 * x[0] - 5.0, 15.0 * x[1]
    return ((b - 5.1 / (4.0 * math.pi ** 2) * a * a + 5.0 / math.pi * a - 6.0) ** 2
            + 10.0 * (1.0 - 1.0 / (8.0 * math.pi)) * math.cos(a) + 10.0)


# function, dimensions, bounds, minimum
BOX_FUNCTIONS = {
    "branin": (branin, 2, 0.0, 1.0, 0.39788735772973816),
    "rosenbrock": (lambda x: 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2, 2, -2.0, 2.0, 0.0),
    "sphere": (lambda x: sum((t - 0.2) ** 2 for t in x), 5, -1.0, 1.0, 0.0),
    "box-rastrigin": (lambda x: sum(rastrigin(t - 0.7) for t in x), 5, -5.12, 5.12, 0.0),
}
SAMPLERS = {
    "optuna": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "optuna-multivariate": lambda seed: optuna.samplers.TPESampler(seed=seed, multivariate=True),
}


def new_study(sampler):
    return optuna.create_study(storage=None, sampler=sampler)  # None: in memory


def trials_needed(name, make_sampler, seed, limit):
    function, low, high, minimum, maximum = FUNCTIONS[name]
    study = new_study(make_sampler(seed))
    for trial_number in range(1, limit + 1):
        trial = study.ask()
        value = function(trial.suggest_float("x", low, high))
        study.tell(trial, value)
        if value - minimum <= 0.01 * (maximum - minimum):
            return trial_number
    return limit + 1


def best_value(name, make_sampler, seed, trials):
    function, dimensions, low, high, minimum = BOX_FUNCTIONS[name]
    study = new_study(make_sampler(seed))
    best = math.inf
    for _ in range(trials):
        trial = study.ask()
        value = function([trial.suggest_float(f"x{j}", low, high) for j in range(dimensions)])
        study.tell(trial, value)
        best = min(best, value)
    return best - minimum


def ask_milliseconds(make_sampler, dimensions, past, asks):
    """The median time of a proposal where there are `past` trials and more."""
    study = new_study(make_sampler(0))
    names = [f"x{j}" for j in range(dimensions)]
    distributions = {each: optuna.distributions.FloatDistribution(0.0, 1.0) for each in names}
    generator = random.Random(0)
    for _ in range(past):
        point = {each: generator.random() for each in names}
        study.add_trial(optuna.trial.create_trial(params=point, distributions=distributions,
                                                  value=sum((t - 0.3) ** 2 for t in point.values())))
    times = []
    for _ in range(asks):
        start = time.perf_counter()
        trial = study.ask()
        point = [trial.suggest_float(each, 0.0, 1.0) for each in names]
        times.append(1e3 * (time.perf_counter() - start))
        study.tell(trial, sum((t - 0.3) ** 2 for t in point))
    return statistics.median(times)


def median_text(needed, limit):
    median = statistics.median(needed)
    return f"> {limit}" if median > limit else f"{median:g}"


def optuna_rows(seeds, limit):
    for function in FUNCTIONS:
        for sampler, make in SAMPLERS.items():
            needed = [trials_needed(function, make, seed, limit) for seed in range(seeds)]
            share = sum(each <= NEEDED_AT for each in needed) / seeds
            yield function, sampler, median_text(needed, limit), f"{100 * share:.0f} %"


def optuna_best_rows(seeds, trials):
    for function in BOX_FUNCTIONS:
        for sampler, make in SAMPLERS.items():
            median = statistics.median(best_value(function, make, seed, trials) for seed in range(seeds))
            yield function, sampler, trials, f"{median:.2g}"


def our_rows(bench, *arguments):
    output = subprocess.run([bench, *map(str, arguments)], capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in output.splitlines()]


def print_table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())


def print_by_function(titles, functions, ours, theirs):
    rows = [*ours, *theirs]
    print_table([titles, *(tuple(row) for function in functions for row in rows if row[0] == function)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--box-seeds", type=int, default=20)
    parser.add_argument("--box-trials", type=int, default=100)
    parser.add_argument("--asks", type=int, default=50)
    options = parser.parse_args()
    if options.trials < NEEDED_AT:
        parser.error(f"--trials {options.trials}: must be at least {NEEDED_AT}")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)

    print_by_function(("function", "sampler", "trials to 1 %, median", f"there at {NEEDED_AT}"), FUNCTIONS,
                      our_rows(options.bench, "needed", "--seeds", options.seeds, "--trials", options.trials),
                      optuna_rows(options.seeds, options.trials))
    print()
    print_by_function(("function", "sampler", "trials", "best less minimum, median"), BOX_FUNCTIONS,
                      our_rows(options.bench, "best", "--seeds", options.box_seeds, "--trials", options.box_trials),
                      optuna_best_rows(options.box_seeds, options.box_trials))

    print()
    rows = [("sampler", "dimensions", "past trials", "ms per ask, median")]
    rows += [tuple(row) for row in our_rows(options.bench, "overhead", "--asks", options.asks)]
    for dimensions in (1, 5):
        for sampler, make in SAMPLERS.items():
            rows.append((sampler, dimensions, 1000, f"{ask_milliseconds(make, dimensions, 1000, options.asks):.3f}"))
    print_table(rows)


if __name__ == "__main__":
    main()
