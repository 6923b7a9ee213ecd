"""Lessons: the two agents and what happens between them."""

from cobayes.lessons.agents import Learner, Teacher
from cobayes.lessons.lesson import Lesson, run_lesson

__all__ = ["Learner", "Lesson", "Teacher", "run_lesson"]
