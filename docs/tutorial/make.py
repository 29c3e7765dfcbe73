#!/usr/bin/python3
"""The tutorial's data and pictures.

    docs/tutorial/make.py data                        # houses.csv and offers.csv: made up, from one seed
    docs/tutorial/make.py pictures build/release      # loss.svg, coefficients.svg and offers.svg, from runs of the program

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
    of_district = dict(zip(DISTRICTS, np.random.default_rng(5).normal(0.0, 45.0, len(DISTRICTS))))
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
                               + of_district[house["district"]] + random.normal(0, 28), 1)
        houses.append(house)
    return houses


def write(file, rows):
    with open(HERE / file, "w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def write_data():
    random = np.random.default_rng(20)
    houses = made(260, random)
    write("houses.csv", houses)
    offers = made(12, random)
    for number, house in enumerate(offers):
        fair = house.pop("price")
        house.update(id=f"A{number + 1}", sold="2023-12-01", asked=round(fair + float(random.normal(0, 45))))
    write("offers.csv", offers)


if __name__ == "__main__":
    if sys.argv[1:] == ["data"]:
        write_data()
    else:
        sys.exit(__doc__)
