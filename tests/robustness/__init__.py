"""Tests that treat tfrkit badly: killed processes, full disks, hostile files, forks, signals."""
