"""From a queued run to a completed document.

pipeline/   the graph: its nodes, and publishing what they produced
runs/       runs and steps, and the fence that keeps a late worker from writing
results/    what a document shows: pages, paragraphs, figures, annotations and images
events/     server-sent events about documents
readers/    one reader per format; they run in the sandbox only
sandbox/    the processes in which readers run
"""
