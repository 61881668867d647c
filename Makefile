# SPDX-License-Identifier: MIT
# make help lists the targets. Adding a .c file needs no edit here.

VARIANT := $(or $(if $(SAN),san-$(subst $(comma),-,$(SAN))),$(if $(COV),cov),opt)
B       := build/$(VARIANT)
VERSION := 0.1.0
PREFIX  ?= /usr/local
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wundef -Wvla -Wwrite-strings \
           -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
override CPPFLAGS += -D_GNU_SOURCE -Ipreload -MMD -MP \
           -DLH_VERSION='"$(VERSION)"'
override CFLAGS   += -std=gnu11 $(WARN) -pthread -fno-omit-frame-pointer \
           $(if $(SAN),-fsanitize=$(SAN)) $(if $(COV),--coverage)
