// A client whose types are generated from the published contract: that it
// compiles says that they fit, that it runs says that they are true.
//
// usage: node client.js BASE_URL TOKEN; one line for each step

import createClient from "openapi-fetch";
import type { components, paths } from "./svc.js";

declare const process: { argv: string[] };

type Schemas = components["schemas"];

const [baseUrl, token] = process.argv.slice(2);
const svc = createClient<paths>({
    baseUrl, headers: { Authorization: `Bearer ${token}` },
});


function say(step: string, what: unknown): void {
    console.log(`${step}: ${JSON.stringify(what)}`);
}


// Fails to compile when a code is not one of the contract's.

function isCode<C extends Schemas["ErrorCode"]>(
    error: Schemas["Error"] | undefined, code: C,
): error is Schemas["Error"] & { error: { code: C } } {
    return error?.error.code === code;
}


async function users(): Promise<Schemas["User"][]> {
    const all: Schemas["User"][] = [];
    let total: number;

    do {
        const { data, error } = await svc.GET("/v1/admin/users", {
            params: { query: { status: "active", limit: 2,
                               offset: all.length } },
        });

        if (!data) {
            throw new Error(error.error.message);
        }

        all.push(...data.users);
        total = data.total;
    } while (all.length < total);

    return all;
}


async function groups(): Promise<void> {
    const create = (name: string, key: string) => svc.POST("/v1/admin/groups", {
        params: { header: { "Idempotency-Key": key } }, body: { name },
    });

    const first = await create("Finance", "1");
    const again = await create("Finance", "1");
    const other = await create("finance", "2");
    const id: string = first.data!.id;

    say("created", [first.response.status, first.data!.memberCount]);
    say("replayed", [again.response.headers.get("idempotency-replayed"),
                     again.data?.id === id]);

    if (isCode(other.error, "conflict")) {
        const code: "conflict" = other.error.error.code;

        say("conflict", [other.response.status, code]);
    }

    const members = await svc.PUT("/v1/admin/groups/{id}/members", {
        params: { path: { id } },
        body: { userIds: (await users()).map(user => user.id) },
    });

    say("members", members.data?.total);

    const gone = await svc.DELETE("/v1/admin/groups/{id}",
                                  { params: { path: { id } } });
    const none = await svc.GET("/v1/admin/groups/{id}",
                               { params: { path: { id } } });

    say("deleted", [gone.response.status, gone.data ?? null,
                    isCode(none.error, "not_found")]);
}


async function risk(): Promise<void> {
    const { data, response } = await svc.GET("/v1/admin/risk-policy");
    const etag = response.headers.get("etag")!;
    const put = (denyThreshold: number) => svc.PUT("/v1/admin/risk-policy", {
        params: { header: { "If-Match": etag } },
        body: { ...data!, denyThreshold },
    });

    say("changed", (await put(90)).data?.denyThreshold);
    say("changed meanwhile", isCode((await put(91)).error,
                                    "precondition_failed"));
}


async function config(): Promise<void> {
    const exported = await svc.GET("/v1/admin/config");
    const bundle: Schemas["ConfigBundle"] = {
        ...exported.data!,
        roles: [{ key: "auditor", name: "Auditor",
                  permissions: ["audit:view"] }],
    };
    const plan = await svc.POST("/v1/admin/config/plan", {
        params: { query: { detail: true, prune: false } }, body: bundle,
    });

    say("plan", plan.data!.changes.map(c => [c.action, c.resource, c.after]));

    const applied = await svc.POST("/v1/admin/config/apply", {
        params: { query: { prune: true },
                  header: { "If-Match": plan.data!.etag } },
        body: bundle,
    });

    say("applied", applied.data?.hasChanges);
}


async function tokens(): Promise<void> {
    const { data, response } = await svc.POST("/v1/admin/api-tokens", {
        body: { name: "ci", scopes: ["users:view"], expiresInDays: 1 },
    });
    const secret: string | undefined = data?.secret;
    const limited = createClient<paths>({
        baseUrl, headers: { Authorization: `Bearer ${secret}` },
    });
    const list = () => limited.GET("/v1/admin/users");
    const refused = await limited.GET("/v1/admin/audit");

    say("token", [data?.expiresAt !== null, response.headers.get(
        "cache-control"), (await list()).data!.total > 0]);
    say("forbidden", isCode(refused.error, "forbidden"));

    await svc.DELETE("/v1/admin/api-tokens/{id}",
                     { params: { path: { id: data!.id } } });

    say("revoked", isCode((await list()).error, "unauthorized"));
}


async function tenant(): Promise<void> {
    const { data } = await svc.PATCH("/v1/admin/tenant", {
        body: { branding: { primary: "#0A66C2", muted: null, radius: 8 } },
    });
    const shown = await svc.GET("/v1/tenants/{slug}/branding", {
        params: { path: { slug: data!.tenant.slug } },
    });

    say("branding", shown.data?.branding);

    const events = await svc.GET("/v1/admin/audit", {
        params: { query: { action: "tenant.updated", outcome: "success" } },
    });

    say("event", events.data?.events.map(e => [e.action, e.target?.type,
                                               e.actor.type]));
}


say("users", (await users()).map(user => user.email));
await groups();
await risk();
await config();
await tokens();
await tenant();
