// The search: which parts of pages answer a query. What it knows of the language and of the
// pages, synonyms for example, is site/data/search.yaml.
(() => {
  "use strict";
  const tokens = text => window.MiniSearch.getDefault("tokenize")(text.toLowerCase()).filter(Boolean);

  // stem cuts the endings of English off, so that it leaves a beginning of the word.
  const stem = word => word.replace(/(?<=..[^s])s$/, "").replace(/(?<=...)(ional|ion|ing|ed|ly)$/, "").replace(/(?<=...)[eiy]+$/, "")
    .replace(/(?<=.{5})at$/, "").replace(/(?<=..)([bdgklmnprt])\1$/, "$1");

  // make returns a function from a query to what it finds, best first: parts {u, p, h, t} of the
  // index, each with the terms that were found in it.
  window.pawlSearch = (parts, rules) => {
    const index = new window.MiniSearch({
      fields: ["h", "p", "t"], storeFields: ["u", "p", "h", "t"], idField: "u",
      // What a page begins with has its title for a heading.
      extractField: (part, field) => field === "h" ? part.h || part.p : part[field],
      tokenize: tokens, processTerm: stem,
      searchOptions: { prefix: true, combineWith: "AND", boost: { h: 4, p: 3 }, boostDocument: weight },
    });
    index.addAll(parts);

    function weight(url) {
      return rules.weights[Object.keys(rules.weights).find(begin => url.startsWith(begin))] ?? 1;
    }

    // synonyms has for each phrase, stemmed, the others of its groups.
    const synonyms = new Map(), ignored = new Set(rules.ignored.split(" "));
    const key = phrase => tokens(phrase).map(stem).join(" ");
    for (const group of rules.synonyms) {
      for (const phrase of group) {
        synonyms.set(key(phrase), [...(synonyms.get(key(phrase)) ?? []), ...group.filter(other => other !== phrase)]);
      }
    }

    // concepts divides a query into the longest phrases that have synonyms, and other words.
    function concepts(query) {
      const words = tokens(query), found = [];
      for (let from = 0, to; from < words.length; from = to) {
        for (to = Math.min(words.length, from + 3); to > from + 1 && !synonyms.has(key(words.slice(from, to).join(" "))); to--);
        const phrase = words.slice(from, to).join(" ");
        if (synonyms.has(key(phrase)) || !ignored.has(phrase)) found.push(phrase);
      }
      return found.length > 0 ? found : words;
    }

    // scores returns by part how well it fits a phrase, or one of its synonyms where that fits better.
    function scores(phrase, options) {
      const best = new Map();
      for (const text of [phrase, ...synonyms.get(key(phrase)) ?? []]) {
        // By the number of words that were asked for, not of those that the synonym has, by whose square MiniSearch counts.
        const factor = tokens(phrase).length / tokens(text).length ** 2 * (text === phrase ? 1 : rules.synonym);
        for (const hit of index.search(text, options)) {
          const before = best.get(hit.u);
          best.set(hit.u, { ...hit, score: Math.max(factor * hit.score, before?.score ?? 0), terms: [...before?.terms ?? [], ...hit.terms] });
        }
      }
      return best;
    }

    // A part counts by its score and by the square of how many concepts it has: one with all of them
    // comes before those with some, except where it only mentions what is the title of another.
    // Only a concept that is found nowhere is looked for in other spellings.
    const nearly = { fuzzy: word => word.length > 4 ? 0.2 : false };
    return query => {
      const found = new Map();
      for (const phrase of concepts(query)) {
        let hits = scores(phrase, {});
        if (hits.size === 0) hits = scores(phrase, nearly);
        for (const [url, hit] of hits) {
          const before = found.get(url) ?? { score: 0, terms: [], concepts: 0 };
          found.set(url, { ...hit, score: before.score + hit.score, terms: [...before.terms, ...hit.terms], concepts: before.concepts + 1 });
        }
      }
      const rank = hit => hit.score * hit.concepts ** 2;
      return [...found.values()].sort((a, b) => rank(b) - rank(a));
    };
  };
})();
