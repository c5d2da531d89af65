// Programs that people copy.

export const dig = name => `dig +short TXT ${name}`;


// How the receiver of a webhook verifies what it gets.

export const PYTHON = `import hashlib, hmac, os

SECRET = os.environ["SVC_WEBHOOK_SECRET"].encode()

def genuine(headers, body):    # body: bytes, as they came
    given = headers.get("X-Svc-Signature", "")
    expected = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()

    return hmac.compare_digest(expected.encode(), given.encode())
`;

export const NODE = `import { createHmac, timingSafeEqual } from "node:crypto";

const secret = process.env.SVC_WEBHOOK_SECRET;

export function genuine(headers, body) {    // body: a Buffer, as it came
  const given = Buffer.from(headers["x-svc-signature"] ?? "");
  const expected = Buffer.from(
    "sha256=" + createHmac("sha256", secret).update(body).digest("hex"));

  return given.length === expected.length && timingSafeEqual(given, expected);
}
`;

export const useToken = origin =>
  `curl -H "Authorization: Bearer $SVC_ADMIN_TOKEN" ${origin}/v1/admin/tenant`;


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
