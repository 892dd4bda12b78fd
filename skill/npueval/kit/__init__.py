"""The kit that measures the plan's workload on the user's GPU host: built here, run there, taken in here again.

``building`` makes it, ``start`` and ``host`` are what runs over there, ``ingest`` judges what comes back.
"""
