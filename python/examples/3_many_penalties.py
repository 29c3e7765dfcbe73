"""A penalty for every feature can fit the validation rows themselves: look at rows that took no part."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import yosida

X, y = load_diabetes(return_X_y=True)
scores: dict[str, list[float]] = {"shared, holdout": [], "feature, holdout": [], "shared, 10 folds": [], "feature, 10 folds": []}
for seed in range(5):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed)
    for per in ("shared", "feature"):
        for cv, name in (("holdout", "holdout"), (10, "10 folds")):
            model = yosida.RidgeTuned(cv=cv, penalty_per=per, random_state=seed).fit(X_train, y_train)
            scores[f"{per}, {name}"].append(float(model.score(X_test, y_test)))

# A quarter of the rows cannot judge ten penalties as well as one; ten folds, in which each row judges, can.
for name, values in scores.items():
    print(f"{name:20} R² on test rows {np.mean(values):.3f}")
