// All policies as a file.

export const operations = ["POST /v1/admin/config/plan", "POST /v1/admin/config/apply"];

export default { configuration: { path: "/admin/config", needs: "tenant:manage" } };
