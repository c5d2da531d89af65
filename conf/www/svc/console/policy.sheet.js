// The policies: what their lists and forms are made of.

const yes = { kind: "switch" };

export default {

  access: {
    path: "/admin/access-policy", needs: "tenant:manage",
    versions: {
      path: "/admin/access-policy/versions", list: "versions", id: "id", one: true,
      needs: "tenant:manage",
      columns: { version: "number", createdAt: "time", createdBy: "actor", source: "word",
                 current: "yes" },
    },
  },

  risk: {
    path: "/admin/risk-policy", section: "riskPolicy", needs: "tenant:manage", change: "PUT",
    form: {
      enabled: yes,
      mfaThreshold: { kind: "number", min: 0, max: 100, must: true },
      denyThreshold: { kind: "number", min: 1, max: 100, must: true },
    },
    signals: {
      impossible_travel: [40], failing_address: [30], recent_failures: [10, 30], new_country: [25],
      new_device: [20], new_network: [10], long_absent: [10], unusual_hour: [5],
      trusted_device: [-15],
    },
  },

  passwords: {
    path: "/admin/password-policy", section: "passwordPolicy", needs: "tenant:manage",
    change: "PUT",
    form: {
      minLength: { kind: "number", min: 8, max: 128, must: true },
      rejectBreached: yes, rejectContextual: yes, requireLower: yes, requireUpper: yes,
      requireDigit: yes, requireSymbol: yes,
      historyCount: { kind: "number", min: 0, max: 24, must: true },
      maxAgeDays: { kind: "number", min: 0, max: 3650, must: true },
    },
  },

  passwordGroups: {
    path: "/admin/password-policy/groups", list: "groups", id: "groupId", one: true,
    needs: "tenant:manage",
    columns: { groupName: "text", updatedAt: "time" },
  },

  configuration: { path: "/admin/config", needs: "tenant:manage" },
};

// What the views ask for that is in no sheet.

export const operations = [
  "PUT /v1/admin/access-policy",
  "POST /v1/admin/access-policy/simulate",
  "GET /v1/auth/sessions",
  "POST /v1/admin/access-policy/versions/{id}/restore",
  "POST /v1/admin/password-policy/groups",
  "PUT /v1/admin/password-policy/groups/{groupId}",
  "DELETE /v1/admin/password-policy/groups/{groupId}",
  "POST /v1/admin/config/plan",
  "POST /v1/admin/config/apply",
];


// Policy as code in a pipeline, as policy-as-code.md has it.

export const PIPELINES = {
  GitHub: `# .github/workflows/tenant.yml
name: tenant
on:
  pull_request:
  push:
    branches: [main]
  schedule:
    - cron: "17 4 * * *"
concurrency: \${{ github.event_name == 'push' && 'tenant' || github.run_id }}
permissions:
  contents: read
jobs:
  config:
    runs-on: ubuntu-latest
    env:
      SVC_BASE_URL: \${{ vars.SVC_BASE_URL }}
      SVC_TOKEN: \${{ secrets.SVC_TOKEN }}
      MODE: \${{ github.event_name == 'push' && 'apply' || 'plan' }}
      DRIFT: \${{ github.event_name == 'pull_request' && '0' || '2' }}
    steps:
      - uses: actions/checkout@v4
      - name: plan, and apply on merge
        run: sh tenant-pipeline
`,

  GitLab: `# .gitlab-ci.yml
.config:
  image: alpine:3
  resource_group: tenant
  before_script:
    - apk add --no-cache curl jq
  script:
    - sh tenant-pipeline

plan:
  extends: .config
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  allow_failure:
    exit_codes: [2]

drift:
  extends: .config
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule"

apply:
  extends: .config
  variables:
    MODE: apply
  rules:
    - if: $CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
`,
};
