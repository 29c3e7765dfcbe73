"""Coming from scikit-learn: each line of theirs, and ours beside it."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LassoCV, LogisticRegressionCV, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import yosida

X, y = load_diabetes(return_X_y=True)
folds = KFold(5, shuffle=True, random_state=0)

# Ours standardise by themselves, inside each fold.
theirs = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-3, 3, 100), cv=folds)).fit(X, y)
ours = yosida.RidgeTuned(cv=folds).fit(X, y)
print(f"RidgeCV alpha {theirs[-1].alpha_:.4g}, RidgeTuned alpha {ours.alpha_:.4g}")
assert 0.2 < ours.alpha_ / theirs[-1].alpha_ < 5

theirs = make_pipeline(StandardScaler(), LassoCV(cv=folds)).fit(X, y)
ours = yosida.LassoTuned(cv=folds).fit(X, y)
print(f"LassoCV alpha {theirs[-1].alpha_:.4g}, LassoTuned alpha {ours.alpha_:.4g}")

# A grid over any model of one penalty.
grid = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": np.logspace(-3, 3, 20)}, cv=folds).fit(X, y)
ours = yosida.RidgeTuned(cv=folds).fit(X, y)
print(f"GridSearchCV alpha {grid.best_params_['ridge__alpha']:.4g}, RidgeTuned alpha {ours.alpha_:.4g}")

X, y = load_breast_cancer(return_X_y=True)
theirs = make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=10, cv=folds, scoring="neg_log_loss", max_iter=1000)).fit(X, y)
ours = yosida.LogisticTuned(cv=folds).fit(X, y)
print(f"LogisticRegressionCV C {theirs[-1].C_[0]:.4g}, LogisticTuned C {ours.C_:.4g}")
assert ours.score(X, y) > 0.97
