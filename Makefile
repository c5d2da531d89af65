# ngx_svc: see "make help".

TOP := $(CURDIR)
BUILD = build
MODULES = ngx_http_svc_common_module.so ngx_http_svc_scim_module.so \
	ngx_http_svc_admin_module.so ngx_http_svc_webhook_module.so
DOCUMENTS := $(wildcard README.md conf/*.md conf/ha/*.md conf/www/*.md ngx_svc_*/*.md \
	ngx_svc_*/*/*.md t/*.md .github/*.md .github/*.png)
# what tests load besides, where they are; it is not installed
TEST_MODULE := $(if $(wildcard t/module),ngx_http_svc_test_module.so)
SQL = ngx_svc_common/sql/sql.pl
SOURCES := $(shell find ngx_svc_* $(wildcard t/module) -name "*.[ch]" -o -name "*.sql") $(SQL)
CFLAGS_WARN = -Wall -Wextra -Wno-unused-parameter

# nginx, and what deps.sh calls, are in folders that users may not have in PATH
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
# newer compilers do this by default; tests add to it
export ASAN_OPTIONS := detect_stack_use_after_return=1

CC ?= cc
PORT ?=
BASE ?=
RUNS ?= 1000000
JOBS ?= $(shell nproc)
# "once": the headers that nearly all files include are compiled once before
# them, which takes a third of the time.  A file that lacks an #include is found
# by a build without this.
HEADERS ?=
# four test files for each core, because they wait more than they compute;
# t/testrules.yml says which of them run at the same time
AT_ONCE = $(shell expr $(JOBS) \* 4)
RUN_TESTS = t/lib/run-tests -j$(AT_ONCE)
TESTS ?= $(filter-out t/ha.t,$(wildcard t/*.t))
# the tests in C, unless TESTS is given
UNIT = $(if $(filter file,$(origin TESTS)),build/unit/test_*)

# for a make inside: as many jobs as there are cores, unless this make has a -j
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

# the modules against Debian's nginx and its headers
DEV = $(BUILD)/nginx-dev-$(notdir $(CC))
# nginx's own source: unit tests, and the build with sanitizers
SRC = $(BUILD)/src/nginx
SAN = $(BUILD)/sanitize

# what is built for svcctl: its manual page, and its completion for bash
SVCCTL = $(BUILD)/share/svcctl.8 $(BUILD)/share/svcctl

# where things are installed; the modules where Debian's nginx looks for them
prefix = /usr
modulesdir = $(prefix)/lib/nginx/modules
loaddir = $(prefix)/share/nginx/modules-available
sharedir = $(prefix)/share/ngx_svc
docdir = $(prefix)/share/doc/ngx_svc
sbindir = $(prefix)/sbin
mandir = $(prefix)/share/man
completionsdir = $(prefix)/share/bash-completion/completions

.PHONY: help deps deps-run deps-federation deps-test build install uninstall run stop test \
	test-ha test-debian unit sanitize valgrind bench bench-smoke bench-peer bench-bins cost \
	sql lint fuzz fuzz-bins binaries ci soak clean
.DEFAULT_GOAL := help

help:                ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1  \t/p' Makefile | expand -t 14

deps:                ## install Debian packages that are missing, to build
	@conf/deps.sh build

deps-run:            ## the same, for the demo too: PostgreSQL and Redis
	@conf/deps.sh run

deps-federation:     ## the same, for FEDERATION=1 too: a directory
	@conf/deps.sh federation

deps-test:           ## the same, for the tests too; PostgreSQL's newest minor
	@conf/deps.sh test

build: deps $(addprefix $(BUILD)/modules/,$(MODULES) $(TEST_MODULE)) $(SVCCTL)  ## build the modules, in build/modules

$(DEV)/objs/Makefile: config $(wildcard t/module/config) conf/version conf/openapi.json \
		conf/integrations.json \
		$(shell find ngx_svc_* -type d) \
		/usr/sbin/nginx
	@echo "==> configuring for $$(/usr/sbin/nginx -v 2>&1 | cut -d: -f2)"
	@rm -rf $(DEV) && mkdir -p $(DEV)
	@cp -r /usr/share/nginx/src/. $(DEV)
	@cd $(DEV) && bash -c '. ./conf_flags && ./configure \
		"$${NGX_CONF_FLAGS[@]}" --with-cc="$(CC)" --with-cc-opt="-g -O2 \
		-fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wformat \
		-Werror=format-security $(CFLAGS_WARN)" \
		--with-ld-opt="-Wl,-z,relro -Wl,-z,now -fPIC" \
		--add-dynamic-module="$$(realpath --relative-to=. "$(TOP)")" \
		$(if $(TEST_MODULE),--add-dynamic-module="$$(realpath --relative-to=. \
			"$(TOP)/t/module")")' > configure.log 2>&1 \
		|| { tail -n 20 configure.log; exit 1; }

$(DEV)/objs/.built: $(DEV)/objs/Makefile $(SOURCES)
	@echo "==> compiling the modules"
	@perl $(SQL) headers $(DEV)/objs .
	@{ $(if $(HEADERS),cp t/lib/headers.h $(DEV)/objs \
		&& printf 'include objs/Makefile\n%s:\n\t$$(CC) $$(CFLAGS) $$(ALL_INCS) -o $$@ %s\n' \
			objs/headers.h.gch objs/headers.h > $(DEV)/objs/headers.mk \
		&& $(MAKE) -s -C $(DEV) -f objs/headers.mk objs/headers.h.gch &&) \
		$(MAKE) -s $(PARALLEL) -C $(DEV) -f objs/sql.mk modules \
			$(if $(HEADERS),CC="$(CC) -include objs/headers.h"); \
		} > $(DEV)/make.log 2>&1 \
		|| { grep -A5 -E 'error|warning|Error' $(DEV)/make.log; exit 1; }
	@touch $@

# Files are replaced by rename, here and in "install", so that processes that
# have mapped or opened the old file keep it.

$(BUILD)/modules/%.so: $(DEV)/objs/.built
	@mkdir -p $(BUILD)/modules
	@cp $(DEV)/objs/$*.so $@.new && mv -f $@.new $@

$(BUILD)/share/svcctl.8: conf/svcctl.8.sh conf/svcctl.d/commands.sh conf/version
	@mkdir -p $(BUILD)/share
	@conf/svcctl.8.sh > $@.new && mv -f $@.new $@

$(BUILD)/share/svcctl: conf/svcctl.bash-completion
	@mkdir -p $(BUILD)/share
	@cp conf/svcctl.bash-completion $@.new && mv -f $@.new $@

# $(call put,MODE,FILES,FOLDER,COMMAND): copies all files, and has the command add
# to them, before it renames the first one
define put
install -d "$(DESTDIR)$(3)"
@rm -rf "$(DESTDIR)$(3)/.ngx_svc.new" && mkdir "$(DESTDIR)$(3)/.ngx_svc.new"
install -m $(1) $(strip $(2)) "$(DESTDIR)$(3)/.ngx_svc.new"
$(if $(4),@cd "$(DESTDIR)$(3)/.ngx_svc.new" && $(4))
@mv -f "$(DESTDIR)$(3)"/.ngx_svc.new/* "$(DESTDIR)$(3)" && rmdir "$(DESTDIR)$(3)/.ngx_svc.new"

endef

# $(call in,FOLDER): the documents in a folder
in = $(foreach f,$(DOCUMENTS),$(if $(filter $(1),$(dir $(f))),$(f)))

# the folders of pages: www, www/svc and those in it
PAGES = $(patsubst conf/%/,%,$(sort $(dir $(wildcard $(addprefix conf/www/,*.html svc/*.* svc/*/*.*)))))

# With an empty MODULES everything else is installed, for an NGINX that has them
# built in.  Migrations of other versions are removed.

install: $(if $(strip $(MODULES)),build) $(SVCCTL)  ## install modules, load_module lines, migrations, pages, svcctl (DESTDIR=)
ifneq ($(strip $(MODULES)),)
	$(call put,644,$(addprefix $(BUILD)/modules/,$(MODULES)),$(modulesdir))
	$(call put,644,conf/mod-http-svc.conf,$(loaddir))
endif
	$(call put,644,$(sort $(wildcard sql/*.sql)),$(sharedir)/sql)
	@cd sql && for f in "$(DESTDIR)$(sharedir)"/sql/*.sql; do \
		[ -e "$${f##*/}" ] || rm -fv "$$f"; \
	done
	$(call put,644,$(sort $(wildcard conf/svcctl.d/*.*)),$(sharedir)/svcctl.d)
	$(call put,644,$(sort $(wildcard conf/mail/*.*)),$(sharedir)/mail)
	$(foreach d,$(PAGES),$(call put,644,$(sort $(wildcard $(addprefix conf/$(d)/*.,html css js))),$(sharedir)/$(d),gzip -9kn *))
	$(call put,644,conf/svc-www.conf conf/svc-console.conf conf/svc-headers.conf,$(sharedir))
	$(call put,644,conf/version,$(sharedir))
	$(call put,755,conf/svcctl,$(sbindir))
	$(call put,644,$(BUILD)/share/svcctl.8,$(mandir)/man8)
	$(call put,644,$(BUILD)/share/svcctl,$(completionsdir))
	@rm -fv "$(DESTDIR)$(docdir)/examples/README.md"
	$(call put,644,conf/svc.conf.example conf/nginx-stop.conf,$(docdir)/examples)
	$(call put,644,$(filter-out %.md,$(wildcard conf/ha/*)),$(docdir)/examples/ha)
	$(call put,755,conf/webhook-receiver conf/mail-receiver \
		conf/tenant-pipeline,$(docdir)/examples)
	$(foreach d,$(sort $(dir $(DOCUMENTS))),$(call put,644,$(call in,$(d)),$(docdir)/$(patsubst %/,%,$(d))))

uninstall:           ## remove what "install" has put there (DESTDIR=)
	rm -f $(foreach m,$(MODULES),"$(DESTDIR)$(modulesdir)/$(m)") \
		"$(DESTDIR)$(loaddir)/mod-http-svc.conf" \
		"$(DESTDIR)$(sbindir)/svcctl" "$(DESTDIR)$(mandir)/man8/svcctl.8" \
		"$(DESTDIR)$(completionsdir)/svcctl"
	rm -rf "$(DESTDIR)$(sharedir)" "$(DESTDIR)$(docdir)"

run: deps-$(if $(filter-out 0,$(FEDERATION)),federation,run) build  ## start a demo system on PORT (as before, or 8080), and show how to use it
	@conf/demo.sh start $(PORT)

stop:                ## stop the demo system; its data stays in run/
	@conf/demo.sh stop

# $(call run-tests,NAME,VARIABLES,FILES): prints at the end what was not tested;
# the output is below build/tests/NAME
define run-tests
@rm -f $(BUILD)/skipped
@$(2) SVC_TEST_SKIPPED=$(TOP)/$(BUILD)/skipped $(RUN_TESTS) -o $(BUILD)/tests/$(1) $(3); \
status=$$?; \
if [ -e $(BUILD)/skipped ]; then \
	sort -u $(BUILD)/skipped | sed 's/^/==> not tested: /'; \
fi; \
exit $$status
endef

test: deps-test build unit  ## all tests, beside each other, on servers of their own
	$(call run-tests,plain,CMOCKA_MESSAGE_OUTPUT=TAP,$(UNIT) $(TESTS))

test-ha: deps-test build  ## follow conf/ha on hosts of its own (as root)
	@conf/deps.sh ha
	$(call run-tests,ha,SVC_TEST_ALL=1,t/ha.t)

test-debian:         ## build, run and test in new roots of Debian 12 and 13 (as root)
	@t/debian test

$(SRC)/objs/ngx_auto_config.h:
	@echo "==> getting nginx's source"
	@t/lib/nginx-source $(BUILD)/src

unit: $(SRC)/objs/ngx_auto_config.h  ## build the unit tests, in build/unit
	@$(MAKE) -s $(PARALLEL) -f t/unit/build.mk NGX_SRC=$(SRC) unit

$(SAN)/nginx: $(SRC)/objs/ngx_auto_config.h config t/module/config conf/version conf/openapi.json \
		conf/integrations.json t/lib/headers.h t/lib/asan-fork.c \
		$(SOURCES)
	@echo "==> building nginx and the modules with ASan and UBSan"
	@rm -rf $(SAN) && mkdir -p $(SAN)
	@$(CC) -Wall -Wextra -Werror -O1 -c -o $(SAN)/asan-fork.o t/lib/asan-fork.c
	@cp -r $(SRC)/. $(SAN)/src && rm -rf $(SAN)/src/objs
	@cd $(SAN)/src && ./configure --with-debug --with-threads \
		--with-http_ssl_module --with-http_v2_module \
		--with-http_realip_module --with-http_gzip_static_module --add-module=$(TOP) \
		--add-module=$(TOP)/t/module \
		--with-cc-opt="-g1 -O1 -fno-omit-frame-pointer \
		-fsanitize=address,undefined \
		-fno-sanitize=alignment,nonnull-attribute,pointer-overflow \
		-DNGX_DEBUG_PALLOC=1" \
		--with-ld-opt="-fsanitize=address,undefined -static-libasan \
		$(TOP)/$(SAN)/asan-fork.o" > ../configure.log 2>&1
	@cp t/lib/headers.h $(SAN)/src/objs
	@printf '%s:\n\t$$(CC) $$(CFLAGS) $$(ALL_INCS) -o $$@ %s\n' \
		objs/headers.h.gch objs/headers.h >> $(SAN)/src/objs/Makefile
	@{ $(MAKE) -s -C $(SAN)/src -f objs/Makefile objs/headers.h.gch \
		&& $(MAKE) -s $(PARALLEL) -C $(SAN)/src CC="cc -include objs/headers.h"; \
		} > $(SAN)/make.log 2>&1 \
		|| { grep -A5 -E 'error|Error' $(SAN)/make.log; exit 1; }
	@cp $(SAN)/src/objs/nginx $@

# What this build cannot test, whatever SVC_TEST_ALL says.  Tests of the
# scripts, the schema, the sources, or only of the unit tests' programs, which
# have the sanitizers in any case.  Browsers, because the location of their
# pages is a regex, whose PCRE2 context NGINX itself leaks.  And tests that
# compare how long things take.
NOT_SANITIZED = t/svcctl% t/migrat% t/plans.t t/distribution.t t/rights.t t/cost.t \
	t/limit_script.t t/documents.t t/layers.t t/words.t t/audit_actions.t \
	t/event_lists.t \
	t/webhook_snippets.t t/skip.t t/anomalies.t t/access_oracle.t t/factor.t \
	t/jose.t t/password_phc.t t/federation_page.t t/oauth_page.t t/pages.t \
	t/scim_push_http.t t/cost_file.t t/run_tests.t t/signin_time.t t/ldap_time.t t/sql_lint.t \
	t/ldap_kept.t t/console_%.t
# Tests where memory is at risk; ALL=1 takes all tests.  Clients that leave, and
# floods; faults, kills and reloads; malformed and hostile input; streams; the
# helper; every route once; and the traffic between clients, PostgreSQL and
# Redis.
AT_STAKE = audit_export audit_stream audit_streams fairness idle logo pipeline prepared \
	signin_flood signin_limits \
	config_faults config_races database failover_fence faults health_writes \
	mail_faults oauth_kill passwordless_faults redis_sentinel reload reload_wait \
	scim_push_faults scim_push_kill webhook_faults webhook_redis webhook_takeover \
	breached config_bundle domains_verify federation_faults federation_links \
	federation_logout federation_oidc federation_providers federation_test \
	federation_trust \
	ldap ldap_faults ldap_import ldap_login ldap_outage ldap_test mfa_attacks \
	oauth_authorize \
	oauth_dpop oauth_size passkey passkey_attacks saml scim_patch scim_push_list \
	scim_push_lookup \
	scim_rfc_filter signin_bad_input social webhook_forged webhook_hostile \
	webhook_nasty webhook_targets \
	fetch fetch_faults mail mail_delivery scim_push_state webhook_ack webhook_delivery \
	webhook_helper webhook_outage webhook_outbox webhook_queue webhook_tls \
	openapi_answers routes \
	conflicts idempotency invitation_accept lifecycle mfa oauth_chains oauth_code \
	oauth_exchange oauth_exchange_races oauth_grants_races oauth_own oauth_par \
	oauth_par_races oauth_refresh signin \
	signup_races user_races
SANITIZED = $(if $(ALL),$(TESTS),$(AT_STAKE:%=t/%.t))
sanitize: TESTS := $(if $(filter file,$(origin TESTS)),$(filter-out \
	$(NOT_SANITIZED),$(SANITIZED)),$(TESTS))
sanitize: deps-test $(SAN)/nginx unit  ## tests on a build with ASan and UBSan (ALL=1: all of them)
	$(call run-tests,sanitized,SVC_TEST_NGINX=$(TOP)/$(SAN)/nginx SVC_TEST_MODULES= \
		SVC_TEST_SLOW=5 SVC_TEST_ALL=,$(TESTS))

# Under valgrind a worker computes more than it waits.  Tests that kill the
# helper, or in which it has to answer in time, are left to the sanitizers, and
# so is the walk over all routes, which waits for RSA keys.
valgrind: AT_ONCE = $(JOBS)
valgrind: deps-test build unit  ## the SCIM tests with the workers under valgrind
	$(call run-tests,valgrind,SVC_TEST_VALGRIND=1 SVC_TEST_SLOW=10,\
		$(filter-out $(patsubst %,t/scim_push_%.t,faults kill lease),\
		$(wildcard t/scim_*.t)) \
		t/audit.t t/health.t t/isolation.t t/tenants.t)

bench-bins: $(SRC)/objs/ngx_auto_config.h
	@$(MAKE) -s -f t/unit/build.mk NGX_SRC=$(SRC) \
		build/bench/access build/bench/argon2

bench: deps-test build bench-bins  ## measure, beside pgbench and a static answer
	@perl -I t/lib t/bench/bench.pl

bench-smoke: deps-test build bench-bins  ## all rows of both benchmarks for a moment: whether they can be measured
	@perl -I t/lib -I t/bench -MSvcBench::Smoke -e 'exit SvcBench::Smoke::run()'

# BENCH_BASE and BENCH_BASE_SQL come from the caller's environment, unless BASE
# names a commit
bench-peer: deps-test build  ## measure beside fastify and pg on Node.js, and beside the commit BASE
ifneq ($(BASE),)
	@base=$$(t/bench/base "$(BASE)") && BENCH_BASE=$$base/build/modules \
		BENCH_BASE_SQL=$$base/sql perl -I t/lib t/bench/peer.pl
else
	@perl -I t/lib t/bench/peer.pl
endif

cost: deps-test build  ## write down what requests cost now, in t/cost, with t/cost.t
	@SVC_TEST_COST=write prove -v -I t/lib t/cost.t

sql: deps-test build  ## a statement, its plans and what it returns: NAME=signin_user
	@t/lib/sql "$(NAME)"

lint: deps-test build  ## cppcheck, clang's analyzer, gcc and clang with warnings as errors
	@perl $(SQL) lint
	@t/lib/lint $(DEV) $(JOBS)

fuzz-bins: $(SRC)/objs/ngx_auto_config.h
	@$(MAKE) -s $(PARALLEL) -f t/unit/build.mk NGX_SRC=$(SRC) fuzz-bins

fuzz: deps-test fuzz-bins  ## the fuzzers, RUNS=1000000 each
	@for f in build/fuzz/fuzz_*; do \
		name=$$(basename $$f); corpus=t/fuzz/corpus/$${name#fuzz_}; \
		mkdir -p build/fuzz/corpus/$$name; \
		echo "==> $$name"; \
		$$f -runs=$(RUNS) -max_len=4096 -verbosity=0 -print_final_stats=1 \
			-artifact_prefix=build/fuzz/ \
			build/fuzz/corpus/$$name $$corpus || exit 1; \
	done

binaries: build unit $(SAN)/nginx fuzz-bins

# All parts run, and those that fail are named at the end.  The fuzzers take one
# core, and the benchmarks less than the other one.

CI = "-j$(JOBS) -O HEADERS=once lint binaries" "test SVC_TEST_COST=ci" sanitize \
	"-j2 -O RUNS=5000 fuzz bench-smoke"

ci: deps-test        ## lint, test, sanitize, a short fuzz and bench, with the time of each
	@failed=; \
	for part in $(CI); do \
		start=$$(date +%s); \
		$(MAKE) $$part || failed="$$failed, $$part"; \
		echo "==> $$part: $$(($$(date +%s) - start)) s"; \
	done; \
	ls $(BUILD)/tests/*/passed-alone/* 2>/dev/null | sed 's/^/==> passed alone: /'; \
	[ -z "$$failed" ] || { echo "==> failed: $${failed#, }"; exit 1; }

soak: deps-test      ## what takes hours: t/soak, with a line for each part in t/soak.log
	@t/soak $(PARTS)

clean:               ## remove what was built; run/ stays
	rm -rf $(BUILD)
