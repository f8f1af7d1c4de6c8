"""Baselines in the same harness: the same retriever, reasoner and reader, simpler control."""

from core.systems.baselines import schedule

SYSTEMS = schedule.SYSTEMS
