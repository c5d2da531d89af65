// Draws random trees, one after another, with conf/www/svc/ui/draw.js and with preact,
// into two elements of a page.  The value is what is wrong: an empty list.
//
// SEED, COUNT and PREACT, the text of that module, are set before.

(async () => {
  const draw = await import("/svc/ui/draw.js");
  const preact = await import(URL.createObjectURL(
    new Blob([PREACT], { type: "text/javascript" })));
  const wrong = [];
  let seed = SEED;

  const random = n => {
    seed = seed * 1103515245 + 12345 & 0x7fffffff;

    return (seed >> 8) % n;
  };

  const TAGS = ["p", "li", "span", "svg", "input", "button"];
  const PROPS = ["class", "data-a", "data-b", "data-c"];
  const VALUES = [null, undefined, "", "a", "b", 3, "c"];


  // A tree of both: what it is made of, before either of them draws it.

  function tree(depth) {
    const kind = random(10);

    if (depth === 0 || kind === 0) {
      return [null, "text", 7, false][random(4)];
    }

    const keyed = random(2) === 0;
    const kids = Array.from({ length: random(6) }, () => tree(depth - 1));
    const props = Object.fromEntries(Array.from({ length: random(3) }, () =>
      [PROPS[random(4)], VALUES[random(7)]]));

    if (keyed) {
      kids.forEach((kid, n) => {
        if (kid?.props) {
          kid.props.key = `k${n}`;
        }
      });
      kids.sort(() => random(3) - 1);
    }

    return { tag: kind < 4 ? ["Same", "Other"][random(2)] : TAGS[random(6)], props, kids };
  }

  const made = (h, components, node) => typeof node !== "object" || node === null ? node
    : h(components[node.tag] ?? node.tag, { ...node.props },
        ...node.tag === "input" ? [] : node.kids.map(kid => made(h, components, kid)));

  // components give their kids an element, or change what they are

  const componentsOf = (h, kidsOf) => ({
    Same: props => h("div", { title: "same" }, kidsOf(props)),
    Other: props => kidsOf(props).length % 2 ? h("em", {}, kidsOf(props)) : h("b", {}, "none"),
  });

  const ours = componentsOf(draw.h, ({ kids }) => kids);
  const theirs = componentsOf(preact.h, ({ children }) => [children ?? []].flat(Infinity)
    .filter(kid => kid !== null && kid !== undefined && typeof kid !== "boolean"));

  const here = document.createElement("div");
  const there = document.createElement("div");
  const clean = element => element.innerHTML.replaceAll("<!---->", "");
  let set;

  const Root = () => {
    const [node, setNode] = draw.state(null);

    set = setNode;

    return draw.h("section", {}, node && made(draw.h, ours, node));
  };

  document.body.append(here, there);

  const away = draw.mount(here, draw.h(Root));

  for (let n = 0; n < COUNT && wrong.length < 3; n++) {
    const next = tree(4);

    set(next);
    await null;
    preact.render(preact.h("section", {}, next && made(preact.h, theirs, next)), there);

    if (clean(here) !== clean(there)) {
      wrong.push({ n, ours: clean(here), theirs: clean(there) });
    }
  }

  away();

  if (here.childNodes.length > 0) {
    wrong.push("something was left");
  }

  return wrong;
})();
