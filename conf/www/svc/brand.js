// What a tenant's page looks like.  A colour that could not be read is not taken.

import { call, csrfToken, h, names } from "./page.js";

const COLORS = ["bg", "surface", "fg", "muted", "border", "danger", "primary",
                "primaryHover", "primaryFg"];

// a text, what it stands on, and what it is when it cannot be read there

const TEXTS = [
  ["fg", "surface", null], ["muted", "surface", "fg"], ["danger", "surface", "fg"],
  ["primaryFg", "primary", null], ["primaryFg", "primaryHover", "primary"],
];

export let options = null;

export async function load(asked) {
  options = await call("GET", `/v1/auth/options${asked}`);
}


// Asks for the tenant when the server knows of none; then goes on.

export async function begin(next) {
  const asked = names.tenant
                ? `?tenant=${encodeURIComponent(names.tenant)}` : "";

  try {
    await load(asked);

  } catch (e) {
    if (!["invalid_request", "not_found"].includes(e.code)) {
      throw e;
    }

    names.tenant = !asked && await ownTenant() || undefined;

    return names.tenant ? begin(next)
      : (await import("./whose.js")).ask(() => begin(next), asked);
  }

  names.name = options.tenant.name;
  brand(options.branding, options.tenant.name);

  return next();
}

// That of the session, of whoever has one.

const ownTenant = async () => csrfToken()
  && (await call("GET", "/v1/auth/session").catch(() => null))?.tenant.slug;


function brand(theme, name) {
  const colors = colorsOf(theme);
  const { style } = document.documentElement;

  for (const color of COLORS) {
    style.setProperty(`--${color}`, `rgb(${colors[color].join(" ")})`);
  }

  if (theme.radius) {
    style.setProperty("--radius", /^[\d.]+$/.test(theme.radius)
                                  ? `${theme.radius}px` : theme.radius);
  }

  if (theme.logoUrl) {
    const { pathname, search } = new URL(theme.logoUrl, location.origin);

    document.querySelector("#brand").replaceChildren(
      h("img", { src: new URL(pathname + search, location.origin).href, alt: name }));
  }
}

function colorsOf(theme) {
  const given = getComputedStyle(document.documentElement);
  const colors = {};

  for (const color of COLORS) {
    const own = given.getPropertyValue(`--${color}`);

    colors[color] = pixel(theme[color] ?? own, pixel(own, [255, 255, 255]));
  }

  for (const [color, ground, instead] of TEXTS) {
    if (contrast(colors[color], colors[ground]) < 4.5) {
      if (color === "primaryFg" && instead) {
        colors[ground] = colors[instead];
      } else {
        colors[color] = instead ? colors[instead] : readable(colors[ground]);
      }
    }
  }

  return colors;
}


// Whatever CSS calls it, as it is seen on that ground.

function pixel(color, ground) {
  const probe = document.body.appendChild(h("span"));

  probe.style.color = color;

  const [, values] = getComputedStyle(probe).color.match(/^rgba?\((.*)\)$/) ?? [];

  probe.remove();

  if (!values) {
    return ground;
  }

  const [r, g, b, alpha = 1] = values.split(",").map(Number);

  return [r, g, b].map((v, i) => Math.round(v * alpha + ground[i] * (1 - alpha)));
}

// WCAG's

function luminance(rgb) {
  const [r, g, b] = rgb.map(v => v / 255)
                       .map(v => v <= 0.04045 ? v / 12.92
                                              : ((v + 0.055) / 1.055) ** 2.4);

  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);

  return (high + 0.05) / (low + 0.05);
}

const readable = ground =>
  [[0, 0, 0], [255, 255, 255]].sort((a, b) => contrast(b, ground)
                                              - contrast(a, ground))[0];
