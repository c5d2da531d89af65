// Dialogs, which are the browser's own: they keep the focus, and Escape closes them.

import { effect, h, mount, state } from "./draw.js";
import { styled } from "./style.js";
import { text } from "./text.js";

await styled("/svc/ui/form.css");


// Shows a component as a dialog, and returns a promise of what it calls "done" with;
// null when somebody has closed it.  The focus goes back to where it was.

export function show(component, props) {
  const before = document.activeElement;

  return new Promise(resolve => {
    const done = (value = null) => {
      take();
      before?.focus?.();
      resolve(value);
    };
    const take = mount(document.body, h(component, { ...props, done }));
  });
}


// "kids" are what is in it; the first one with "autofocus" has the focus.  There may be
// one above another.  Escape asks first where a form in it differs.

let dialogs = 0;

export function Dialog({ title, done, kids, wide }) {
  const [id] = state(() => `dialog-title-${++dialogs}`);

  const leave = async dialog =>
    (!dialog.querySelector("[data-differs]") || await mayLeave()) && done();

  effect(element => {
    element.showModal();

    return () => element.close();
  }, []);

  return h("dialog", {
    class: wide && "wide", "aria-labelledby": id,
    oncancel(event) {
      event.preventDefault();
      leave(event.currentTarget);
    },

    // a browser closes a dialog that was not let go twice: it is still wanted

    onclose(event) {
      if (event.target.isConnected) {
        event.target.showModal();
      }
    },
  }, h("h2", { id }, title), kids);
}


// Asks before something is done.  Returns a promise of true, or null.
//
//   title   what will be done
//   notes   what it ends and what stays, a paragraph each
//   verb    on the button
//   name    has to be typed, if it is there
//   sure    Enter does it: for what a key has asked for

export const confirm = props => show(Confirm, props);

// before what was typed is lost

export const mayLeave = () => confirm({ title: text.differs, verb: text.discard });

function Confirm({ title, notes = [], verb, name, sure, done }) {
  const [typed, setTyped] = state("");
  const ready = name === undefined || typed.trim() === name;

  return h(Dialog, { title, done },
    h("form", {
      onsubmit(event) {
        event.preventDefault();
        ready && done(true);
      },
    },
      notes.map(note => h("p", {}, note)),
      name !== undefined && h("div", { class: "field" },
        h("label", { for: "confirm-name" }, text.typeName),
        h("p", { class: "name" }, name),
        h("input", { id: "confirm-name", value: typed, autocomplete: "off",
                     oninput: event => setTyped(event.target.value) })),
      h("div", { class: "actions" },
        h("button", { type: "button", autofocus: name === undefined && !sure,
                      onclick: () => done() }, text.cancel),
        h("button", { class: "danger", autofocus: sure, disabled: !ready }, verb))));
}
