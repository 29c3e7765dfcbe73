#!/usr/bin/python3
"""Features of the GTSRB signs 30 and 80 km/h: $YOSIDA_DATA/gtsrb_30_80.tar.xz -> gtsrb_hog.npz in the user's cache.

    apt-get install python3-opencv        # Debian 12
    bench/data/gtsrb_hog.py [OUT.npz]

The region of the sign is cut out, made 40 x 40 and described by histograms of oriented gradients: 5 x 5 cells,
10 x 10 blocks, stride 5, 8 bins, so 7 x 7 x 4 x 8 = 1568 features. y is -1 for 30 and +1 for 80 km/h.
"""
import csv
import os
import sys
import tarfile

import numpy as np

import problems

try:
    import cv2
except ImportError:
    raise SystemExit("OpenCV for Python is missing: apt-get install python3-opencv, and use /usr/bin/python3")

SHA256 = "ae7f646c328ff03b81e8198f27d7a22afdfa1e63c4ffaa8a0468fb399fa1e08a"
FOLDER = "GTSRB/Final_Training/Images"
CLASSES = (("00001", -1.0, 2220), ("00005", 1.0, 1860))  # 30 km/h, 80 km/h


def hog_of(image, region, hog):
    x1, y1, x2, y2 = region
    return hog.compute(cv2.resize(image[y1:y2, x1:x2], (40, 40))).ravel()


def main(out):
    try:
        archive = problems.find("gtsrb_30_80.tar.xz",
                                "It holds the original training images of the classes 00001 and 00005 of GTSRB with their region "
                                f"CSVs, as {FOLDER}/00001 and {FOLDER}/00005; set YOSIDA_DATA to its folder.")
    except problems.NotFound as missing:
        raise SystemExit(missing)
    found = problems.sha256_of(archive)
    print(f"{archive}: sha256 {found}")
    if found != SHA256:
        raise SystemExit(f"sha256 {SHA256} expected")
    with tarfile.open(archive) as members:
        files = {member.name: members.extractfile(member).read() for member in members if member.isfile()}

    hog = cv2.HOGDescriptor((40, 40), (10, 10), (5, 5), (5, 5), 8)
    x, y = [], []
    for name, label, count in CLASSES:
        rows = list(csv.DictReader(files[f"{FOLDER}/{name}/GT-{name}.csv"].decode().splitlines(), delimiter=";"))
        if len(rows) != count:
            raise SystemExit(f"class {name}: {count} images expected, {len(rows)} found")
        for row in rows:
            image = cv2.imdecode(np.frombuffer(files[f"{FOLDER}/{name}/{row['Filename']}"], np.uint8), cv2.IMREAD_COLOR)
            if image.shape[:2] != (int(row["Height"]), int(row["Width"])):
                raise SystemExit(f"{name}/{row['Filename']}: the size is not that of its CSV line")
            x.append(hog_of(image, [int(row[f"Roi.{corner}"]) for corner in ("X1", "Y1", "X2", "Y2")], hog))
            y.append(label)
    x = np.array(x)
    if x.shape[1] != 1568 or not np.isfinite(x).all():
        raise SystemExit(f"1568 finite features expected, {x.shape[1]} found")
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    np.savez_compressed(out, x=x, y=np.array(y))
    print(f"{out}: {x.shape[0]} rows, {x.shape[1]} features")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(problems.cache(), "gtsrb_hog.npz"))
