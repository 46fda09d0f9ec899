# SPDX-License-Identifier: GPL-2.0
# What runs the harness's commands in the guest.
programs += agent
agent-sources := testing/agent/agent.c
