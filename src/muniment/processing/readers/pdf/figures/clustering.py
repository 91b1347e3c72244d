"""Cluster boxes that are close to each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from muniment.processing.readers.contract import Box


@dataclass(slots=True)
class BoxCluster:
    box: Box
    members: list[int]
    """Indexes in ascending order."""


def cluster_boxes(boxes: Sequence[Box], gap: float, min_side: float) -> list[BoxCluster]:
    """Merge boxes that are closer than `gap`; return clusters at least `min_side` wide and high."""
    order = sorted(range(len(boxes)), key=lambda index: (boxes[index][1], index))
    finished: list[BoxCluster] = []
    open_clusters: list[BoxCluster] = []
    for index in order:
        box = boxes[index]
        passed = [each for each in open_clusters if each.box[3] + gap < box[1]]
        if passed:
            finished.extend(passed)
            open_clusters = [each for each in open_clusters if each.box[3] + gap >= box[1]]
        open_clusters = _insert(open_clusters, BoxCluster(box, [index]), gap)
    large = [each for each in finished + open_clusters if _smaller_side(each.box) >= min_side]
    return _merge_until_stable(large, gap)


def _insert(clusters: list[BoxCluster], added: BoxCluster, gap: float) -> list[BoxCluster]:
    """Insert a box and merge clusters until no two are close, because a merged cluster may reach others."""
    while near := [each for each in clusters if _are_near(each.box, added.box, gap)]:
        clusters = [each for each in clusters if not _are_near(each.box, added.box, gap)]
        # The longest list absorbs the others: drawings of many thousand lines grow line by line.
        largest = max(near, key=lambda each: len(each.members))
        for other in [added, *(each for each in near if each is not largest)]:
            largest.box = _union(largest.box, other.box)
            largest.members.extend(other.members)
        added = largest
    return [*clusters, added]


def _merge_until_stable(clusters: list[BoxCluster], gap: float) -> list[BoxCluster]:
    joined: list[BoxCluster] = []
    for each in clusters:
        joined = _insert(joined, each, gap)
    for each in joined:
        each.members.sort()
    return joined


def _smaller_side(box: Box) -> float:
    return min(box[2] - box[0], box[3] - box[1])


def _are_near(one: Box, other: Box, gap: float) -> bool:
    return (
        one[0] <= other[2] + gap and other[0] <= one[2] + gap and one[1] <= other[3] + gap and other[1] <= one[3] + gap
    )


def _union(one: Box, other: Box) -> Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])
