"""Builds the wheel by CMake: what `pip install ./python` and `pip wheel ./python` call (PEP 517). It fetches nothing.

The library is built in build/wheel of the repository. YOSIDA_BUILD_DIR names a build tree that is there already; its
Python must be the one that installs.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _version():
    text = (ROOT / "include/yosida/version.hpp").read_text(encoding="utf-8")
    return re.search(r'#define YOSIDA_VERSION "([0-9.]+)"', text).group(1)


def _tag():
    interpreter = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{interpreter}-{interpreter}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _metadata():
    return "\n".join([
        "Metadata-Version: 2.1",
        "Name: yosida",
        f"Version: {_version()}",
        "Summary: Hyperparameter optimisation by gradients that does not blow up",
        "License: Apache-2.0",
        "Requires-Python: >=3.9",
        "Requires-Dist: numpy",
        'Requires-Dist: scikit-learn>=1.2; extra == "estimators"',
        'Requires-Dist: matplotlib; extra == "plots"',
        'Requires-Dist: torch>=1.13; extra == "torch"',
        "Provides-Extra: estimators",
        "Provides-Extra: plots",
        "Provides-Extra: torch",
        "",
    ])


def _wheel_file():
    return f"Wheel-Version: 1.0\nGenerator: yosida_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def _described():
    """What pip wants to know of a wheel, by the names of its files."""
    return {"METADATA": _metadata(), "WHEEL": _wheel_file()}


def _built_package():
    """The folder of the package, built."""
    tree = pathlib.Path(os.environ.get("YOSIDA_BUILD_DIR") or ROOT / "build/wheel").resolve()
    if not (tree / "CMakeCache.txt").exists():
        subprocess.run(
            ["cmake", "-S", str(ROOT), "-B", str(tree), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             "-DYOSIDA_BUILD_TOOLS=OFF", "-DYOSIDA_BUILD_TESTS=OFF", "-DYOSIDA_BUILD_BENCH=OFF", "-DYOSIDA_WITH_OPENCV=OFF",
             "-DYOSIDA_BUILD_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}"],
            check=True,
        )
    subprocess.run(["cmake", "--build", str(tree), "--target", "yosida_python"], check=True)
    return tree / "python/yosida"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Without it pip builds the wheel to learn its name."""
    info = f"yosida-{_version()}.dist-info"
    folder = pathlib.Path(metadata_directory) / info
    folder.mkdir()
    for name, text in _described().items():
        (folder / name).write_text(text, encoding="utf-8")
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = _built_package()
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    if not (package / f"_core{suffix}").exists():
        raise RuntimeError(f"{package} holds no _core{suffix}: it was built for another Python than {sys.executable}")
    files = {f"yosida/{path.name}": path.read_bytes() for path in sorted(package.iterdir())
             if path.suffix in (".py", ".pyi") or path.name in ("py.typed", f"_core{suffix}")}
    info = f"yosida-{_version()}.dist-info"
    files.update({f"{info}/{name}": text.encode() for name, text in _described().items()})
    for name in ("LICENSE", "NOTICE"):
        files[f"{info}/{name}"] = (ROOT / name).read_bytes()
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    files[f"{info}/RECORD"] = ("".join(lines) + f"{info}/RECORD,,\n").encode()
    name = f"yosida-{_version()}-{_tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)  # a fixed date: equal builds are equal files
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the package is built from the whole repository: pip install ./python there")
