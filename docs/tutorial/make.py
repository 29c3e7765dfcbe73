#!/usr/bin/python3
"""The tutorial's data and pictures.

    docs/tutorial/make.py data                        # houses.csv and offers.csv: made up, from one seed
    docs/tutorial/make.py pictures build/release      # loss.svg and offers.svg, from runs of the program

The pictures want Debian's python3-matplotlib.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
DISTRICTS = ["Altmarkt", "Bachtal", "Birkenhain", "Brunnen", "Eichfeld", "Fischerau", "Galgenberg", "Gartenstadt", "Hafen", "Heide",
             "Hochstadt", "Kirchplatz", "Lindenau", "Moorweg", "Neustadt", "Nordend", "Obertor", "Ostkreuz", "Roter Hof", "Schlossberg",
             "Seeblick", "Suedring", "Uferpark", "Wiesengrund"]
HEATING = ["gas", "oil", "district", "heat pump"]


def made(rows, random):
    """Houses: a price in thousands, made of what is known of them, of the district and of chance."""
    of_district = dict(zip(DISTRICTS, np.random.default_rng(5).normal(0.0, 35.0, len(DISTRICTS))))
    houses = []
    for number in range(rows):
        area = float(np.clip(random.normal(115, 35), 45, 260))
        rooms = int(np.clip(round(area / 28 + random.normal(0, 0.7)), 2, 9))
        plot = float(np.clip(random.normal(420, 180), 60, 1200))
        built = int(random.integers(1905, 2022))
        house = {"id": f"H{1000 + number}", "sold": f"{random.integers(2019, 2024)}-{random.integers(1, 13):02d}-{random.integers(1, 29):02d}",
                 "district": str(random.choice(DISTRICTS)), "area": round(area, 1), "rooms": rooms, "bathrooms": max(1, rooms // 3),
                 "plot": round(plot), "built": built, "garage": str(random.choice(["yes", "no"])),
                 "heating": str(random.choice(HEATING)), "station_km": round(float(random.gamma(2.0, 1.2)), 1)}
        year = int(house["sold"][:4])
        house["price"] = round(60 + 2.4 * area + 0.05 * plot + 0.55 * (built - 1960) + 22 * (house["garage"] == "yes") - 7 * house["station_km"]
                               + {"gas": 0, "oil": -12, "district": 5, "heat pump": 18}[house["heating"]] + 11 * (year - 2019)
                               + of_district[house["district"]] + random.normal(0, 38), 1)
        houses.append(house)
    return houses


def write(file, rows):
    with open(HERE / file, "w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def write_data():
    random = np.random.default_rng(20)
    houses = made(100, random)
    write("houses.csv", houses)
    offers = made(12, random)
    for number, house in enumerate(offers):
        fair = house.pop("price") + 11 * (2023 - int(house["sold"][:4]))
        house.update(id=f"A{number + 1}", sold="2023-12-01", asked=round(fair + float(random.normal(0, 60))))
    write("offers.csv", offers)


TUNE = ["tune", "--train", HERE / "houses.csv", "--target", "price", "--test-fraction", "0.2", "--folds", "5", "--quiet"]


def draw(build):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "yosida", "svg.fonttype": "none", "font.family": "sans-serif", "axes.spines.top": False,
                                "axes.spines.right": False, "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"]})
    import matplotlib.pyplot as plt
    import matplotlib.ticker

    def save(figure, file):
        figure.savefig(HERE / file, metadata={"Date": None}, bbox_inches="tight")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def yosida(*arguments):
            subprocess.run([pathlib.Path(build).resolve() / "yosida", *arguments], cwd=folder, check=True)

        yosida(*TUNE, "--json", "ridge.json")
        yosida(*TUNE, "--model", "lasso", "--save", "model.json", "--json", "lasso.json")
        yosida(*TUNE, "--method", "grid", "--trials", "61", "--bounds=-9,3", "--trace", "grid.csv")
        yosida("predict", "--from", "model.json", "--data", HERE / "offers.csv", "--out", "predictions.csv")
        ridge, lasso = (json.loads((folder / f"{model}.json").read_text()) for model in ("ridge", "lasso"))
        trials = [row for row in csv.DictReader(open(folder / "grid.csv")) if row["tried"]]
        offers = {row["id"]: float(row["asked"]) for row in csv.DictReader(open(HERE / "offers.csv"))}
        predicted = dict(zip(offers, (float(row["prediction"]) for row in csv.DictReader(open(folder / "predictions.csv")))))

    figure, axes = plt.subplots(figsize=(6.4, 3.2))
    axes.plot([float(row["tried"]) for row in trials], [float(row["tried_validation"]) for row in trials], color="#6a8fc7")
    axes.plot(ridge["lambda"][0], ridge["loss"]["validation"], "o", markersize=9, fillstyle="none", markeredgewidth=2, color="#111111")
    axes.annotate("the answer", (ridge["lambda"][0], ridge["loss"]["validation"]), xytext=(0, 14), textcoords="offset points", ha="center")
    axes.set(xlabel="lambda, the logarithm of the penalty", ylabel="validation loss, mean of five folds", yscale="log")
    axes.yaxis.set_major_formatter(matplotlib.ticker.ScalarFormatter())
    axes.yaxis.set_minor_formatter(matplotlib.ticker.ScalarFormatter())
    save(figure, "loss.svg")

    error = np.sqrt(2 * lasso["refit"]["loss"]["test"])
    figure, axes = plt.subplots(figsize=(5.2, 4.4))
    low, high = min(*offers.values(), *predicted.values()) - 30, max(*offers.values(), *predicted.values()) + 30
    axes.plot([low, high], [low, high], color="#888888", linewidth=1)
    axes.fill_between([low, high], [low - error, high - error], [low + error, high + error], color="#6a8fc7", alpha=0.2, linewidth=0,
                      label="usual error of a prediction")
    for offer, asked in offers.items():
        is_cheap = asked < predicted[offer] - error
        axes.plot(predicted[offer], asked, "o", color="#2e7d32" if is_cheap else "#888888")
        axes.annotate(offer, (predicted[offer], asked), xytext=(5, -3), textcoords="offset points", fontsize=8,
                      color="#2e7d32" if is_cheap else "#555555")
    axes.set(xlabel="predicted price, thousands", ylabel="asked price, thousands", xlim=(low, high), ylim=(low, high))
    axes.legend(frameon=False, loc="upper left")
    save(figure, "offers.svg")


if __name__ == "__main__":
    if sys.argv[1:] == ["data"]:
        write_data()
    elif len(sys.argv) == 3 and sys.argv[1] == "pictures":
        draw(sys.argv[2])
    else:
        sys.exit(__doc__)
