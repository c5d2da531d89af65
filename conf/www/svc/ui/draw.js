// Draws what components return, and draws again what has changed.
//
//     const Counter = ({ from }) => {
//       const [n, setN] = state(from);
//
//       return h("button", { onclick: () => setN(n + 1) }, n);
//     };
//
//     mount(document.body, h(Counter, { from: 1 }));
//
// A component returns one element, a text or null.  Strings are text, and never HTML.
// "on..." listens; "value" and "checked" are properties; anything else is an attribute,
// which null and false take away.  Kids with a "key" keep their elements when they move.
// Where a component throws, "failed" of the nearest one that has it is drawn.

const SVG = "http://www.w3.org/2000/svg";
const LISTENERS = Symbol("listeners");
const NODE = Symbol("node");    // what a node and its copies have in common
const PROPERTIES = { value: "", checked: false, indeterminate: false };

let drawn = null;               // the instance whose component runs
let slot = 0;                   // which of its states comes next
let effects = [];               // what comes after the drawing
let scheduled = false;

const waiting = new Set();      // what is to be drawn again


export function h(type, props, ...kids) {
  return { [NODE]: {}, type, key: props?.key, props: props ?? {}, kids: nodesOf(kids) };
}

const isText = kid => typeof kid === "string" || typeof kid === "number";

const nodesOf = kids => kids.flat(Infinity).filter(kid => kid?.[NODE] || isText(kid)).map(nodeOf);

const nodeOf = kid => kid?.[NODE] ? kid
                      : { [NODE]: {}, type: null, text: isText(kid) ? String(kid) : "" };


// A component may put its kids elsewhere: what was drawn is copied.

const fresh = node => node.element || node.instance
                      ? { ...node, element: null, instance: null } : node;


// --- what a component keeps ----------

// Returns the value and the function that sets it, or changes it by a function.

export function state(first) {
  const owner = drawn;

  const kept = owner.slots[slot++] ??= {
    value: typeof first === "function" ? first() : first,

    set(next) {
      const value = typeof next === "function" ? next(kept.value) : next;

      if (!Object.is(value, kept.value)) {
        kept.value = value;
        again(owner);
      }
    },
  };

  return [kept.value, kept.set];
}


// Runs after the drawing, with the component's element, whenever one of "on" differs.  A
// function that the action returns is called before the next time, and in the end.

export function effect(action, on) {
  const owner = drawn;
  const kept = owner.slots[slot++] ??= { on: null, end: null };

  if (kept.on?.every((value, n) => Object.is(value, on[n]))) {
    return;
  }

  kept.on = on;
  effects.push(() => {
    if (owner.alive) {
      kept.end?.();

      const end = action(elementOf(owner.out));

      kept.end = typeof end === "function" ? end : null;
    }
  });
}


// --- when ----------------------------

function again(instance) {
  if (!instance.alive) {
    return;
  }

  waiting.add(instance);

  if (!scheduled) {
    scheduled = true;
    queueMicrotask(flush);
  }
}


// Parents come first: what they draw need not be drawn again.  What is moved loses the
// focus, and has it back.

function flush() {
  const active = document.activeElement;
  const caret = active?.selectionStart != null
    && [active.selectionStart, active.selectionEnd, active.selectionDirection];

  scheduled = false;

  for (const instance of [...waiting].sort((a, b) => a.depth - b.depth)) {
    if (waiting.delete(instance)) {
      attempt(instance);
    }
  }

  if (active !== document.activeElement && active?.isConnected) {
    active.focus({ preventScroll: true });

    if (caret) {
      active.setSelectionRange(...caret);
    }
  }

  act();
}

function act() {
  const now = effects;

  effects = [];
  now.forEach(action => action());
}


// Returns the function that takes it away again.

export function mount(parent, node) {
  parent.append(make(node, { depth: 0 }, parent.namespaceURI));
  act();

  return () => {
    const element = elementOf(node);

    end(node);
    element.remove();
  };
}


// --- components ----------------------

function outOf(instance) {
  const { type, props, kids } = instance.node;

  drawn = instance;
  slot = 0;

  try {
    return fresh(nodeOf(instance.error ? type.failed(instance.error)
                                       : type({ ...props, kids })));

  } finally {
    drawn = null;
  }
}

// Draws twice, if need be: the second time it is the failure.

function guarded(instance, draw) {
  if (!instance.node.type.failed || instance.error) {
    return draw();
  }

  const before = effects.length;

  try {
    return draw();

  } catch (e) {
    effects.length = before;
    instance.error = e;

    return draw();
  }
}

const redraw = instance => guarded(instance, () => {
  instance.out = change(instance.out, outOf(instance), instance, instance.space);
});

function attempt(instance) {
  try {
    redraw(instance);

  } catch (e) {
    let at = instance.above;

    while (at.depth > 0 && (!at.node.type.failed || at.error)) {
      at = at.above;
    }

    if (at.depth === 0) {
      throw e;
    }

    at.error = e;
    redraw(at);
  }
}


// --- elements ------------------------

const elementOf = node => node.instance ? elementOf(node.instance.out) : node.element;

function make(node, above, space) {
  if (node.type === null) {
    return node.element = document.createTextNode(node.text);
  }

  if (typeof node.type === "function") {
    const instance = node.instance = {
      node, above, space, depth: above.depth + 1, slots: [], alive: true, error: null,
      out: null,
    };

    return guarded(instance, () => {
      instance.out = outOf(instance);

      return make(instance.out, instance, space);
    });
  }

  node.kids = node.kids.map(fresh);
  node.space = node.type === "svg" ? SVG : space;
  node.element = document.createElementNS(node.space, node.type);
  node.element.append(...node.kids.map(kid => make(kid, above, node.space)));
  setAll(node.element, {}, node.props);

  return node.element;
}


// Makes of what was drawn what is wanted, and returns that.

function change(old, node, above, space) {
  if (old[NODE] === node[NODE]) {
    return Object.assign(node, old);
  }

  if (old.type !== node.type || old.key !== node.key) {
    const element = elementOf(old);

    element.replaceWith(make(node, above, space));
    end(old);

    return node;
  }

  if (old.instance) {
    node.instance = old.instance;
    node.instance.node = node;
    waiting.delete(node.instance);
    redraw(node.instance);

    return node;
  }

  node.element = old.element;

  if (node.type !== null) {
    node.space = old.space;
    node.kids = node.kids.map(fresh);
    changeKids(node.element, old.kids, node.kids, above, node.space);
    setAll(node.element, old.props, node.props);

  } else if (old.text !== node.text) {
    node.element.data = node.text;
  }

  return node;
}


function changeKids(parent, before, after, above, space) {
  const old = new Map();

  if (before.length === after.length
      && before.every((kid, n) => kid.type === after[n].type && kid.key === after[n].key))
  {
    return after.forEach((kid, n) => change(before[n], kid, above, space));
  }

  namesOf(before).forEach((name, n) => old.set(name, before[n]));

  const found = namesOf(after).map((name, n) => {
    const kid = old.get(name);

    return kid?.type === after[n].type && old.delete(name) ? kid : null;
  });

  for (const kid of old.values()) {
    const element = elementOf(kid);

    end(kid);
    element.remove();
  }

  let place = parent.firstChild;

  after.forEach((kid, n) => {
    const was = found[n] && elementOf(found[n]);

    if (found[n]) {
      change(found[n], kid, above, space);
    }

    const element = was ? elementOf(kid) : make(kid, above, space);

    // a component may have another element now; what is passed over is moved in its turn

    if (was && (was === place || was === place?.nextSibling)) {
      place = element;
    }

    if (element === place) {
      place = place.nextSibling;
    } else {
      parent.insertBefore(element, place);
    }
  });
}


// The key, or the place among those of the type.

function namesOf(kids) {
  const seen = new Map();

  return kids.map(({ type, key }) => {
    const name = key === undefined ? type : `key ${key}`;
    const n = seen.get(name) ?? 0;

    seen.set(name, n + 1);

    return n === 0 ? name : `${n} ${key === undefined ? idOf(type) : name}`;
  });
}

const ids = new Map();
const idOf = type => ids.get(type) ?? (ids.set(type, ids.size), ids.size - 1);


function end({ instance, kids }) {
  if (!instance) {
    return kids?.forEach(end);
  }

  instance.alive = false;
  waiting.delete(instance);
  instance.out && end(instance.out);
  instance.slots.forEach(kept => kept.end?.());
}


// --- attributes ----------------------

function setAll(element, old, props) {
  for (const name in old) {
    if (!(name in props)) {
      set(element, name, undefined);
    }
  }

  for (const name in props) {
    if (!(name in PROPERTIES) && props[name] !== old[name]) {
      set(element, name, props[name]);
    }
  }

  // what they may be depends on the other ones; and people change them, too

  for (const name in PROPERTIES) {
    if (name in props) {
      set(element, name, props[name]);
    }
  }
}

function set(element, name, value) {
  if (name === "key") {
    return;
  }

  if (name.startsWith("on")) {
    return listen(element, name.slice(2), value);
  }

  if (name in PROPERTIES && name in element) {
    const wanted = value ?? PROPERTIES[name];

    if (element[name] !== wanted) {
      element[name] = wanted;
    }

  } else if (value == null || value === false) {
    element.removeAttribute(name);

  } else {
    element.setAttribute(name, value === true ? "" : value);
  }
}


// One object listens, and knows what is to be called now.

function listen(element, type, action) {
  const listeners = element[LISTENERS] ??= {
    handleEvent(event) { this[event.type]?.(event); },
  };

  if (!(type in listeners)) {
    element.addEventListener(type, listeners);
  }

  listeners[type] = action;
}
