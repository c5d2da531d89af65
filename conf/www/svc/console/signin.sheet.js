// The tenant's settings of sign-in: its name, what its pages look like, and who may come in.

const color = set => ({ kind: "color", set });

export default {

  branding: {
    path: "/admin/tenant", changes: "tenant:manage", change: "PATCH",
    form: {
      name: { kind: "text", max: 120, must: true },
      "branding.primary": color("buttons"),
      "branding.primaryFg": color("buttons"),
      "branding.primaryHover": color("buttons"),
      "branding.fg": color("texts"),
      "branding.muted": color("texts"),
      "branding.danger": color("texts"),
      "branding.bg": color("grounds"),
      "branding.surface": color("grounds"),
      "branding.border": color("grounds"),
      "branding.radius": { kind: "text", set: "grounds" },
      "branding.allowSelfSignup": { kind: "switch", set: "ways" },
      "branding.allowPasswordless": { kind: "switch", set: "ways" },
    },
    leaves: ["branding.logoUrl"],
  },
};

// What the view asks for besides.

export const operations = ["PUT /v1/admin/tenant/logo", "DELETE /v1/admin/tenant/logo"];

// What a logo may be: the server looks at its first bytes, and has these limits.

export const TYPES = ["image/png", "image/jpeg", "image/webp"];
export const SIDE = 2000;
