// SPDX-License-Identifier: MIT
// Plays the schedules of a small program. All that it says about races and reads is in the page's data,
// which docs/site/course_site/stepper_states.py takes from the memory model; nothing is decided here.
"use strict";

(() => {
  const make = (name, properties = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key in made) made[key] = value; else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };

  const threadName = (name) => name === "host" ? "the host" : `block ${name[0]}, thread ${name[1]}`;
  const either = (values) => values.join(" or ");

  class Stepper {
    constructor(figure) {
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.key = this.data.start;
      this.path = [];  // steps, each a list of numbers of threads
      this.switches = make("fieldset", { className: "stepper-switches" },
        make("legend", {}, "The program has"));
      this.data.switches.forEach((says, number) => {
        const box = make("input", { type: "checkbox", checked: this.key[number] === "1" });
        box.addEventListener("change", () => this.turn(number, box.checked));
        this.switches.append(make("label", {}, box, ` ${says}`));
      });
      this.threads = make("div", { className: "stepper-threads" });
      this.memory = make("div", { className: "stepper-memory" });
      this.verdict = make("div", { className: "stepper-verdict", role: "status" });
      this.back = make("button", { type: "button" }, "One step back");
      this.again = make("button", { type: "button" }, "Start again");
      this.back.addEventListener("click", () => { this.path.pop(); this.draw(this.back); });
      this.again.addEventListener("click", () => { this.path = []; this.draw(this.again); });
      figure.querySelector(".stepper-static").replaceWith(this.switches,
        make("p", { className: "stepper-advice" }, "Choose which thread goes on. The buttons are the steps that can come next."),
        this.threads, make("p", { className: "stepper-buttons" }, this.back, " ", this.again),
        this.verdict, this.memory);
      this.draw();
    }

    get setting() { return this.data.settings[this.key]; }

    turn(number, on) {
      this.key = this.key.slice(0, number) + (on ? "1" : "0") + this.key.slice(number + 1);
      this.path = [];
      this.draw();
    }

    // Where each thread is, and what the schedule so far has left in memory and in the reads.
    played() {
      const positions = this.setting.threads.map(() => 0);
      const memory = new Map();
      const saw = new Map();
      for (const step of this.path) {
        for (const number of step) {
          const thread = this.setting.threads[number];
          const one = thread.operations[positions[number]];
          if (one.kind === "read") saw.set(`${thread.name}.${positions[number]}`, memory.get(one.location) ?? "old");
          if (one.kind === "read-modify-write") memory.set(one.location, (memory.get(one.location) ?? 0) + 1);
          else if (one.leaves) memory.set(one.location, one.leaves);
          positions[number] += 1;
        }
      }
      return { positions, memory, saw };
    }

    go(step, thread) {
      this.path.push(step);
      this.draw();
      const own = this.threads.children[thread].querySelector("button");
      (own ?? this.threads.querySelector("button") ?? this.again).focus();
    }

    says(place) {
      const [name, position] = place.split(".");
      const thread = this.setting.threads.find((one) => one.name === name);
      return `${threadName(name)}: ${thread.operations[position].says}`;
    }

    draw(focus) {
      const now = this.played();
      const [steps, races] = this.setting.states[now.positions.join("")];
      const racing = new Set(races.flatMap((pair) => this.setting.pairs[pair]));
      this.threads.replaceChildren(...this.setting.threads.map((thread, number) =>
        this.column(thread, number, now, steps, racing)));
      this.memory.replaceChildren(...this.memories(now));
      this.verdict.replaceChildren(...this.words(now, steps, races));
      this.back.disabled = this.again.disabled = this.path.length === 0;
      if (focus && focus.disabled) this.threads.querySelector("button")?.focus();
    }

    column(thread, number, now, steps, racing) {
      const list = make("ol");
      thread.operations.forEach((one, position) => {
        const place = `${thread.name}.${position}`;
        const item = make("li");
        if (position < now.positions[number]) {
          item.className = "is-done";
          item.append(make("span", { className: "visually-hidden" }, "done: "), one.says);
        } else if (position === now.positions[number]) {
          const step = steps.find((threads) => threads.includes(number));
          item.className = "is-next";
          if (step) {
            const button = make("button", { type: "button", "aria-label": `${threadName(thread.name)}: ${one.says}` }, one.says);
            button.addEventListener("click", () => this.go(step, number));
            item.append(button);
          } else {
            item.append(one.says, make("span", { className: "stepper-note" }, this.reason(one)));
          }
        } else {
          item.append(one.says);
        }
        const seen = this.sightOf(place, now);
        if (seen) item.append(seen);
        if (racing.has(place)) {
          item.classList.add("is-racing");
          item.append(make("strong", { className: "stepper-note" }, "races"));
        }
        list.append(item);
      });
      const done = now.positions[number] === thread.operations.length;
      return make("div", { className: "stepper-thread" },
        make("h4", {}, threadName(thread.name), done ? " (done)" : ""), list);
    }

    reason(one) {
      if (one.kind === "barrier") return "waits for the other thread";
      return one.kind === "read-modify-write" ? "comes after the other block's" : "waits";
    }

    // What a read of the schedule saw, and what the memory model lets it see.
    sightOf(place, now) {
      if (!now.saw.has(place)) return null;
      const may = this.setting.reads[place];
      const saw = now.saw.get(place);
      if (may.length === 1) return make("span", { className: "stepper-note" }, `sees ${saw}`);
      return make("span", { className: "stepper-note is-old" }, `saw ${saw} in this schedule; on a GPU it may see ${either(may)}`);
    }

    memories(now) {
      const groups = new Map();
      for (const thread of this.setting.threads) {
        thread.operations.forEach((one, position) => {
          if (!one.location) return;
          const cells = groups.get(one.memory) ?? groups.set(one.memory, new Map()).get(one.memory);
          const cell = cells.get(one.location) ?? cells.set(one.location, new Set()).get(one.location);
          const may = one.kind === "read" ? this.setting.reads[`${thread.name}.${position}`] : [];
          const current = now.memory.get(one.location) ?? "old";
          // What a read has seen stands next to the read.
          const isDone = now.saw.has(`${thread.name}.${position}`);
          if (may.length > 1 && now.memory.has(one.location) && !isDone) {
            for (const value of may) if (value !== current) cell.add(`${threadName(thread.name)} may see: ${value}`);
          }
        });
      }
      return [...groups].map(([memory, cells]) => make("div", { className: "stepper-space" },
        make("h4", {}, memory), make("ul", {}, ...[...cells].map(([location, copies]) =>
          make("li", {}, make("code", {}, location), `: ${now.memory.get(location) ?? "old"}`,
            ...[...copies].map((words) => make("span", { className: "stepper-note is-old" }, words)))))));
    }

    words(now, steps, races) {
      const said = races.map((pair) => {
        const [one, other] = this.setting.pairs[pair];
        return make("li", {}, `${this.says(one)}, and ${this.says(other)}`);
      });
      const isEnd = steps.length === 0;
      const old = [...now.saw.keys()].filter((place) => this.setting.reads[place].length > 1);
      const lines = [];
      if (said.length) {
        lines.push(make("p", {}, make("strong", {}, said.length === 1 ? "A race: nothing orders these two." : `${said.length} races: nothing orders these pairs.`)), make("ul", {}, ...said));
      } else {
        lines.push(make("p", {}, make("strong", {}, isEnd ? "Done, and no race." : "No race so far.")));
      }
      if (old.length) {
        lines.push(make("p", {}, `A read that may see another value than in this schedule: ${old.map((place) => `${this.says(place)} (${either(this.setting.reads[place])})`).join("; ")}.`));
      }
      if (isEnd) {
        const all = this.setting.pairs.length;
        if (all > races.length) lines.push(make("p", {}, `In other schedules ${all} pairs race.`));
        else if (!all) lines.push(make("p", {}, "The memory model allows no race in any schedule of this program."));
        else lines.push(make("p", {}, "Turn the switches on again, and play it once more."));
      }
      return lines;
    }
  }

  for (const figure of document.querySelectorAll(".stepper")) figure.stepper = new Stepper(figure);
})();
