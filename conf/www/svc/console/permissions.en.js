export default {
  "apps:manage": "Applications, agents and what they may do",
  "audit:view": "The audit log, statistics and incidents",
  "groups:manage": "Groups, their members and their applications",
  "members:manage": "People: invite, change, suspend and erase them, and give roles",
  "roles:manage": "Roles of the tenant's own",
  "tenant:manage": "Sign-in, policies, branding, domains, tokens and webhooks",
  "users:view": "Look at the directory",
};
