// The access policy, of which there are versions.

export const operations = [
  "PUT /v1/admin/access-policy",
  "POST /v1/admin/access-policy/simulate",
  "GET /v1/auth/sessions",
  "POST /v1/admin/access-policy/versions/{id}/restore",
];

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
};
