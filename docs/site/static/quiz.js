// SPDX-License-Identifier: MIT
// "Check yourself": the reader answers before the answer is shown, and is told which letters were right.
"use strict";

(() => {
  const make = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  const score = make("p", { className: "quiz-score" });
  score.setAttribute("role", "status");
  let asked = 0;
  let right = 0;
  const count = (wasRight) => {
    asked += 1;
    right += wasRight ? 1 : 0;
    score.textContent = `${right} of ${asked} right so far.`;
  };

  // A free answer: only the reader can judge it, once both stand next to each other.
  const askFreely = (folded, number) => {
    const answer = make("textarea", { rows: 2, id: `quiz-answer-${number}` });
    const label = make("label", { htmlFor: answer.id }, "Your answer, in a few words");
    const compare = make("button", { type: "button" }, "Compare");
    const question = make("p", { className: "quiz-question" });
    question.append(...folded.querySelector("summary").cloneNode(true).childNodes);
    const box = make("div", { className: "quiz-item" }, question, label, answer, compare);
    folded.before(box);
    folded.hidden = true;
    compare.addEventListener("click", () => {
      const judged = make("p", { className: "quiz-judge" }, "Did yours say the same? ");
      for (const [words, wasRight] of [["Yes", true], ["Not yet", false]]) {
        const button = make("button", { type: "button" }, words);
        button.addEventListener("click", () => {
          count(wasRight);
          judged.textContent = wasRight ? "Counted as right." : "Read the section again, and come back.";
          judged.tabIndex = -1;
          judged.focus();
        });
        judged.append(button, " ");
      }
      folded.hidden = false;
      folded.open = true;
      compare.replaceWith(judged);
      judged.querySelector("button").focus();
    });
  };

  const askPrediction = (section) => {
    const form = make("form", { className: "quiz-item" });
    const choices = make("fieldset", {}, make("legend", {}, "Free of races:"));
    const variants = [...section.querySelectorAll(".variant")];
    const boxes = variants.map((variant) => {
      const letter = variant.querySelector(".variant-letter").textContent;
      const box = make("input", { type: "checkbox", name: letter });
      choices.append(make("label", {}, box, ` ${letter} `));
      return { letter, box, isFree: variant.classList.contains("is-free") };
    });
    const verdict = make("p", { className: "quiz-verdict" });
    verdict.setAttribute("role", "status");
    form.append(choices, make("button", { type: "submit" }, "Judge"), verdict);
    const folded = section.querySelector(".prediction-answer");
    folded.before(form);
    folded.hidden = true;
    let isCounted = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const wrong = boxes.filter(({ box, isFree }) => box.checked !== isFree).map(({ letter }) => letter);
      verdict.textContent = wrong.length ? `Not right: ${wrong.join(", ")}. The reasons are below.` : "All four are right. The reasons are below.";
      for (const { letter } of boxes) {
        const why = folded.querySelector(`.why-${letter}`);
        why.classList.toggle("is-wrong", wrong.includes(letter));
      }
      folded.hidden = false;
      folded.open = true;
      if (!isCounted) count(wrong.length === 0);
      isCounted = true;
    });
  };

  const quiz = document.querySelector("section.quiz");
  if (!quiz) return;
  [...quiz.querySelectorAll("details:not(.prediction-answer, .prediction-programs)")].forEach(askFreely);
  quiz.querySelectorAll("section.prediction").forEach(askPrediction);
  quiz.append(score);
})();
