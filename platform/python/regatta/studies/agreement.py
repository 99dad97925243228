# SPDX-License-Identifier: Apache-2.0
"""Whether a study's results are of the text that its file has now."""

from dataclasses import replace

from ..statistics import InputError
from . import documents
from .campaign import Slurm
from .file import Study, check
from .results import DATABASE, STUDY


def study_of_results(study: Study) -> Study | None:
    """The study file that the results are of. None: nobody knows, or it cannot be read any more."""
    path = study.folder / STUDY
    if not path.is_file():
        return None
    content = documents.read(path)
    try:
        return check(documents.parsed(content, study.path), study.path, content.decode("utf-8", "replace"))
    except InputError:
        return None


def disagreement(study: Study) -> str:
    """A sentence if the results are, or may be, of another text; else nothing."""
    if not (study.folder / DATABASE).is_file():
        return ""
    if not (study.folder / STUDY).is_file():
        return (f"{study.folder / STUDY} is not there: nobody knows whether the results in {study.folder} are of the "
                f"present text of {study.path.name}; regatta-study run makes them anew")
    before = study_of_results(study)
    if before is not None and _all_of(before) == _all_of(study):
        return ""
    return (f"{study.path.name} was changed since the results in {study.folder} were made: they and their numbers of runs "
            f"are of the text in {STUDY} there; regatta-study run makes those of the present text")


def _all_of(study: Study) -> str:
    """All that makes a difference to the results. As a text, for 1 is true otherwise."""
    return repr(replace(study, text="", group_runs=0, keep_traces=True, slurm=Slurm()))
