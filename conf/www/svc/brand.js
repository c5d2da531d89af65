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


// Dresses a page, or one in a shadow root.  Returns its colours, as they are given and as
// they are taken, and the contrast of each text: what "gives" way where it is too low.

export function brand(theme, name, place = document) {
  const { style } = place.host ?? place.documentElement;
  const given = colorsOf(theme, place);
  const colors = { ...given };
  const pairs = TEXTS.map(pair => readable(colors, ...pair));

  for (const color of COLORS) {
    style.setProperty(`--${color}`, `rgb(${colors[color].join(" ")})`);
  }

  if (theme.radius) {
    style.setProperty("--radius", /^[\d.]+$/.test(theme.radius)
                                  ? `${theme.radius}px` : theme.radius);
  }

  if (theme.logoUrl) {
    const { pathname, search } = new URL(theme.logoUrl, location.origin);

    place.querySelector("#brand").replaceChildren(
      h("img", { src: pathname + search, alt: name }));
  }

  return { given, colors, pairs };
}

// A colour is as it is seen, on that of this page, whatever CSS calls it.

function colorsOf(theme, place) {
  const probe = place.querySelector("main").appendChild(h("span"));
  const style = getComputedStyle(probe);
  const colors = {};

  const pixel = (color, ground) => {
    probe.style.color = color;

    const [, values] = style.color.match(/^rgba?\((.*)\)$/) ?? [];

    if (!values) {
      return ground;
    }

    const [r, g, b, alpha = 1] = values.split(",").map(Number);

    return [r, g, b].map((v, i) => Math.round(v * alpha + ground[i] * (1 - alpha)));
  };

  for (const color of COLORS) {
    const own = style.getPropertyValue(`--${color}`);

    colors[color] = pixel(theme[color] ?? own, pixel(own, [255, 255, 255]));
  }

  probe.remove();

  return colors;
}

function readable(colors, text, ground, instead) {
  const ratio = contrast(colors[text], colors[ground]);
  const gives = ratio < 4.5 && (text === "primaryFg" && instead ? ground : text);

  if (gives) {
    colors[gives] = instead ? colors[instead] : plain(colors[ground]);
  }

  return { text, ground, instead, ratio, gives };
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

const plain = ground =>
  [[0, 0, 0], [255, 255, 255]].sort((a, b) => contrast(b, ground)
                                              - contrast(a, ground))[0];
