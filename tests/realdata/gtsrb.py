"""The paper's claim on GTSRB, its figure 1: SHO settles far above its smaller steps with the largest, MY-HPO takes the same and larger ones.

    gtsrb.py path/to/yosida

Three partitions of about 1000 training and 1000 validation signs; the paper's settings and iterations; final weights. Exit code 77
(skipped) where the archive is not in YOSIDA_DATA or this build is without OpenCV.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

SKIPPED = 77
SHO = ["sho:alpha=0.05", "sho:alpha=0.01", "sho:alpha=0.005"]
MY_HPO = ["my-hpo-c:alpha=0.05:beta=0.1:delta=0.75", "my-hpo-bt:alpha=0.5:beta=0.5:delta=0.75"]


def main(yosida):
    with tempfile.TemporaryDirectory(prefix="yosida-gtsrb-") as folder:
        made = subprocess.run([yosida, "data", "features", "gtsrb", "--out", folder], stderr=subprocess.PIPE, encoding="utf-8")
        if made.returncode != 0:
            print(f"skipped: {made.stderr}")
            return SKIPPED
        run = lambda *arguments: subprocess.run([yosida, *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
        run("compare", "--train", "hog_x.npy", "--train-target", "hog_y.npy", "--model", "logistic", "--no-intercept",
            "--valid-fraction", "0.245", "--test-fraction", "0.51", "--methods", ",".join(SHO + MY_HPO), "--max-iterations", "500",
            "--trace-every", "500", "--seeds", "3", "--study", "s.study", "--quiet")
        losses = {}
        for record in json.loads(run("study", "export", "s.study", "--format", "json")):
            losses.setdefault(record["spec"]["method"] + record["spec"]["settings"]["alpha"], []).append(
                record["outcome"]["final"]["loss"]["validation"])
    median = {name: statistics.median(values) for name, values in losses.items()}
    for name, value in sorted(median.items()):
        print(f"{name:14} validation loss {value:.4f}")
    best_sho = min(value for name, value in median.items() if name.startswith("sho"))
    best_my_hpo = min(value for name, value in median.items() if name.startswith("my-hpo"))
    # Ten partitions gave 21.0 against 14.7, and 8.2 against 14.7 (docs/reproduction.md): half of either distance is asked for.
    if not median["sho0.05"] > 1.2 * best_sho:
        return "SHO is as good with its largest step as with a smaller one"
    if not best_my_hpo < 0.75 * best_sho:
        return "MY-HPO's best setting does not beat SHO's"
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
