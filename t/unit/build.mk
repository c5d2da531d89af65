# Unit tests and fuzzers of the code that does not need nginx.
#
#   make -f t/unit/build.mk NGX_SRC=build/src/nginx-1.22.1 unit
#   make -f t/unit/build.mk NGX_SRC=build/src/nginx-1.22.1 fuzz-bins
#
# from the top of the tree.  NGX_SRC is nginx's source after its ./configure
# (objs/ngx_auto_config.h is there).  t/unit/test_*.c becomes build/unit/test_*,
# t/fuzz/fuzz_*.c becomes build/fuzz/fuzz_*; both with ASan and UBSan.

NGX_SRC ?= build/src/nginx
UNIT_OUT = build/unit
FUZZ_OUT = build/fuzz
FUZZ_CC ?= clang

NGX_SVC_FOLDERS := $(shell find ngx_svc_* -type d)

NGX_SVC_PURE_SCIM = $(wildcard $(addprefix ngx_svc_scim/ngx_svc_scim_, \
		text.c grammar.c filter.c filter_attr.c filter_check.c filter_sql.c \
		filter_token.c filter_tree.c known.c path.c user.c patch.c))
NGX_SVC_PURE_COMMON = $(filter-out %_socket.c, $(wildcard $(addprefix \
	ngx_svc_common/, base/*.c access/*.c zone/*.c)))
NGX_SVC_PURE_ADMIN = $(wildcard ngx_svc_admin/tenant/ngx_svc_admin_image*.c) \
	$(addprefix ngx_svc_admin/password/ngx_svc_, argon2.c breached.c phc.c \
		password_chars.c password_check.c password_common.c \
		password_context.c password_text.c password_work.c) \
	ngx_svc_admin/governance/ngx_svc_admin_governance.c \
	$(addprefix ngx_svc_admin/config/ngx_svc_admin_, bundle.c \
		bundle_write.c plan.c plan_check.c plan_write.c) \
	$(addprefix ngx_svc_admin/limit/ngx_svc_, limit_key.c limit_memory.c \
		setting.c) \
	$(wildcard ngx_svc_admin/factor/*.c) \
	$(addprefix ngx_svc_admin/core/ngx_svc_, domain.c jwks.c ldap_filter.c url.c) \
	$(addprefix ngx_svc_admin/federation/ngx_svc_, apple_secret.c id_token.c \
		oidc_jwks.c oidc_metadata.c provider.c provider_person.c) \
	ngx_svc_admin/ldap/ngx_svc_ldap_text.c \
	$(addprefix ngx_svc_admin/oauth/ngx_svc_, application_keys.c \
		application_redirect.c \
		application_resource.c application_scope.c dpop.c dpop_nonce.c \
		oauth_asked.c oauth_assertion.c oauth_claim.c oauth_claims_kept.c \
		oauth_form_post.c \
		oauth_lives.c)
NGX_SVC_PURE = $(patsubst %.c,%,$(NGX_SVC_PURE_COMMON) $(NGX_SVC_PURE_SCIM) \
		$(NGX_SVC_PURE_ADMIN)) \
	ngx_svc_common/http/ngx_svc_fetch_entry \
	ngx_svc_common/pg/ngx_svc_pg_array \
	ngx_svc_common/pg/ngx_svc_pg_results \
	ngx_svc_webhook/queue/ngx_svc_webhook_entry \
	$(addprefix ngx_svc_webhook/scim_push/ngx_svc_push_, attribute patch read \
		write)

NGX_SVC_CORE = $(addprefix src/core/ngx_, string palloc array list rbtree \
		hash murmurhash parse_time sha1 slab shmtx) src/os/unix/ngx_alloc

NGX_SVC_TEST_INCS = $(addprefix -I, $(NGX_SVC_FOLDERS)) -It/unit \
	$(addprefix -I$(NGX_SRC)/, src/core src/event src/event/modules \
		src/os/unix src/http src/http/modules src/http/v2 objs) \
	-I/usr/include/postgresql

NGX_SVC_SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
NGX_SVC_TEST_CFLAGS = -g1 -O1 -Wall -Wextra -Werror -Wno-unused-parameter \
	-DNGX_DEBUG_PALLOC=1 $(NGX_SVC_TEST_INCS)

NGX_SVC_TEST_LIBS = -lcjson -lcrypto -lpng -ljpeg -lwebp -lz -largon2 \
	-lunistring -lcrypt -lfido2 -lqrencode -lidn2
NGX_SVC_TEST_LDFLAGS = -Wl,--wrap=ngx_alloc

# nginx's own code does what UBSan reports
NGX_SVC_CORE_CFLAGS = $(NGX_SVC_TEST_CFLAGS) -fno-sanitize=undefined

NGX_SVC_TEST_HEADERS = $(wildcard $(addsuffix /*.h, $(NGX_SVC_FOLDERS)) \
	t/unit/*.h t/fuzz/*.h) \
	$(NGX_SRC)/objs/ngx_auto_config.h t/unit/build.mk

UNIT_OBJS = $(addprefix $(UNIT_OUT)/obj/, $(addsuffix .o, $(NGX_SVC_PURE) \
	$(NGX_SVC_CORE) t/unit/ngx_env))
FUZZ_OBJS = $(patsubst $(UNIT_OUT)/%,$(FUZZ_OUT)/%,$(UNIT_OBJS))

UNIT_TOOLS = $(addprefix $(UNIT_OUT)/, access_eval email_eval factor_eval jose_eval \
	ldap_eval password_tool push_eval)

# with libcurl, on a small event loop in the tool itself
NGX_SVC_TEST_PUSH = $(patsubst %,$(UNIT_OUT)/obj/%.o, \
	$(addprefix ngx_svc_webhook/http/ngx_svc_, curl curl_options curl_wire \
		outbound outbound_connect outbound_error outbound_result) \
	$(addprefix ngx_svc_webhook/scim_push/ngx_svc_push_, call http id leave page probe \
		user) \
	ngx_svc_common/base/ngx_svc_socket src/event/ngx_event_timer \
	t/unit/push_loop)
$(UNIT_OUT)/push_eval: UNIT_OBJS += $(NGX_SVC_TEST_PUSH)
$(UNIT_OUT)/push_eval: NGX_SVC_TEST_LIBS += -lcurl -lssl
$(UNIT_OUT)/push_eval: $(NGX_SVC_TEST_PUSH)

# with libldap, in the tool's only thread
NGX_SVC_TEST_LDAP = $(patsubst %,$(UNIT_OUT)/obj/%.o, \
	$(addprefix ngx_svc_admin/ldap/ngx_svc_ldap_, connect entry explain groups \
		job kept user wire) src/event/ngx_event_timer \
	src/os/unix/ngx_socket)
$(UNIT_OUT)/ldap_eval: UNIT_OBJS += $(NGX_SVC_TEST_LDAP)
$(UNIT_OUT)/ldap_eval: NGX_SVC_TEST_LIBS += -lldap -llber
$(UNIT_OUT)/ldap_eval: $(NGX_SVC_TEST_LDAP)

UNIT_BINS = $(patsubst t/unit/%.c,$(UNIT_OUT)/%,$(wildcard t/unit/test_*.c))
# malloc() fails in this test
$(UNIT_OUT)/test_image_png: NGX_SVC_TEST_LDFLAGS += -Wl,--wrap=malloc

# with the code that calls Redis, whose connection the test itself replaces
NGX_SVC_TEST_LIMIT = $(addprefix $(UNIT_OUT)/obj/ngx_svc_admin/limit/ngx_svc_, \
	limit.o limit_call.o limit_script.o)
NGX_SVC_TEST_LIMITS = $(addprefix $(UNIT_OUT)/, test_limit test_limit_redis)
$(NGX_SVC_TEST_LIMITS): UNIT_OBJS += $(NGX_SVC_TEST_LIMIT)
$(NGX_SVC_TEST_LIMITS): $(NGX_SVC_TEST_LIMIT)

FUZZ_BINS = $(patsubst t/fuzz/%.c,$(FUZZ_OUT)/%,$(wildcard t/fuzz/fuzz_*.c))
# which compares with libcurl
$(FUZZ_OUT)/fuzz_outbound_url: NGX_SVC_TEST_LIBS += -lcurl

# compiled like the modules, for t/bench/bench.pl
BENCH_SRCS = $(addsuffix .c, $(filter ngx_svc_common/%, $(NGX_SVC_PURE)) \
	t/unit/ngx_env) $(addprefix $(NGX_SRC)/, $(addsuffix .c, $(NGX_SVC_CORE)))

.PHONY: unit fuzz-bins

# the objects stay when the make that built them has ended
.SECONDARY: $(UNIT_OBJS) $(FUZZ_OBJS)

unit: $(UNIT_BINS) $(UNIT_TOOLS)

fuzz-bins: $(FUZZ_BINS)

$(UNIT_OUT)/test_%: t/unit/test_%.c $(UNIT_OBJS) $(NGX_SVC_TEST_HEADERS)
	@echo "  CC $@"
	@$(CC) $(NGX_SVC_TEST_CFLAGS) $(NGX_SVC_SANITIZE) \
		$(NGX_SVC_TEST_LDFLAGS) -o $@ $< $(UNIT_OBJS) \
		$(NGX_SVC_TEST_LIBS) -lcmocka

# not tests: t/access_oracle.t, t/factor.t, t/jose.t, t/ldap_kept.t,
# t/password_phc.t and t/scim_push_http.t run them
$(UNIT_TOOLS): $(UNIT_OUT)/%: t/unit/%.c $(UNIT_OBJS) $(NGX_SVC_TEST_HEADERS)
	@echo "  CC $@"
	@$(CC) $(NGX_SVC_TEST_CFLAGS) $(NGX_SVC_SANITIZE) \
		$(NGX_SVC_TEST_LDFLAGS) -o $@ $< $(UNIT_OBJS) \
		$(NGX_SVC_TEST_LIBS)

build/bench/access: t/bench/access.c $(BENCH_SRCS) $(NGX_SVC_TEST_HEADERS)
	@mkdir -p $(@D)
	@$(CC) -g -O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 \
		-Wall -Wextra -Wno-unused-parameter $(NGX_SVC_TEST_INCS) \
		$(NGX_SVC_TEST_LDFLAGS) -o $@ $< $(BENCH_SRCS) \
		-lcjson -lcrypto -lunistring -lidn2

build/bench/argon2: t/bench/argon2.c
	@mkdir -p $(@D)
	@$(CC) -g -O2 -Wall -Wextra -o $@ $< -largon2 -lpthread

$(FUZZ_OUT)/fuzz_%: t/fuzz/fuzz_%.c $(FUZZ_OBJS) $(NGX_SVC_TEST_HEADERS)
	@echo "  CC $@"
	@$(FUZZ_CC) $(NGX_SVC_TEST_CFLAGS) $(NGX_SVC_SANITIZE) \
		-fsanitize=fuzzer $(NGX_SVC_TEST_LDFLAGS) -o $@ $< \
		$(FUZZ_OBJS) $(NGX_SVC_TEST_LIBS)

# the headers that nearly every file includes, compiled once; gcc and clang find
# the result by its name
$(UNIT_OUT)/headers.h.gch: t/lib/headers.h $(NGX_SVC_TEST_HEADERS)
	@mkdir -p $(@D)
	@cp $< $(@:.gch=)
	@$(CC) $(NGX_SVC_SANITIZE) $(NGX_SVC_TEST_CFLAGS) -x c-header -o $@ $<

$(FUZZ_OUT)/headers.h.pch: t/lib/headers.h $(NGX_SVC_TEST_HEADERS)
	@mkdir -p $(@D)
	@cp $< $(@:.pch=)
	@$(FUZZ_CC) $(NGX_SVC_SANITIZE) -fsanitize=fuzzer-no-link \
		$(NGX_SVC_TEST_CFLAGS) -x c-header -o $@ $<

$(UNIT_OUT)/obj/src/%.o: $(NGX_SRC)/src/%.c $(NGX_SVC_TEST_HEADERS)
	@mkdir -p $(@D)
	@echo "  CC $@"
	@$(CC) -c $(NGX_SVC_SANITIZE) $(NGX_SVC_CORE_CFLAGS) -o $@ $<

$(UNIT_OUT)/obj/%.o: %.c $(UNIT_OUT)/headers.h.gch
	@mkdir -p $(@D)
	@echo "  CC $@"
	@$(CC) -c $(NGX_SVC_SANITIZE) $(NGX_SVC_TEST_CFLAGS) \
		-include $(UNIT_OUT)/headers.h -o $@ $<

$(FUZZ_OUT)/obj/src/%.o: $(NGX_SRC)/src/%.c $(NGX_SVC_TEST_HEADERS)
	@mkdir -p $(@D)
	@echo "  CC $@"
	@$(FUZZ_CC) -c $(NGX_SVC_SANITIZE) -fsanitize=fuzzer-no-link \
		$(NGX_SVC_CORE_CFLAGS) -o $@ $<

$(FUZZ_OUT)/obj/%.o: %.c $(FUZZ_OUT)/headers.h.pch
	@mkdir -p $(@D)
	@echo "  CC $@"
	@$(FUZZ_CC) -c $(NGX_SVC_SANITIZE) -fsanitize=fuzzer-no-link \
		$(NGX_SVC_TEST_CFLAGS) -include $(FUZZ_OUT)/headers.h -o $@ $<
