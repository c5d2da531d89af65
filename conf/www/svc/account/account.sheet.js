// What the account page asks for, with the steps of a sign-in that it and the console share.

export const operations = [
  "DELETE /v1/auth/identities/{id}",
  "DELETE /v1/auth/sessions/{id}",
  "DELETE /v1/mfa/factors/{id}",
  "DELETE /v1/oauth/consents/{clientId}",
  "GET /v1/auth/identities",
  "GET /v1/auth/profile",
  "GET /v1/auth/session",
  "GET /v1/mfa/factors",
  "GET /v1/oauth/consents",
  "PATCH /v1/auth/profile",
  "PATCH /v1/mfa/factors/{id}",
  "POST /v1/auth/email/change",
  "POST /v1/auth/email/change/verify",
  "POST /v1/auth/email/verify",
  "POST /v1/auth/email/verify/start",
  "POST /v1/auth/password",
  "POST /v1/auth/sessions/revoke-others",
  "POST /v1/mfa/challenge",
  "POST /v1/mfa/email",
  "POST /v1/mfa/email/{id}/confirm",
  "POST /v1/mfa/passkeys",
  "POST /v1/mfa/passkeys/options",
  "POST /v1/mfa/recovery-codes",
  "POST /v1/mfa/step-up",
  "POST /v1/mfa/totp",
  "POST /v1/mfa/totp/{id}/confirm",
  "POST /v1/oauth/authorization",
];

export default {};
