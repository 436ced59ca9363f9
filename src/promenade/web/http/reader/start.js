// Shows the interface description beside this page; nothing is asked of any other host.

// Every reference leads to a place in the same document, so what is shown can be put together here, for one
// operation when it is opened: Swagger UI's own way reads all of the document first, which takes half a minute.
const SCHEMAS_DEEP = 3; // navigations lead on without end; what is deeper is named

function resolved(value, root, depth) {
  if (Array.isArray(value)) return value.map((one) => resolved(one, root, depth));
  if (value === null || typeof value !== "object") return value;
  if (typeof value.$ref === "string" && value.$ref.startsWith("#/")) {
    const isSchema = value.$ref.startsWith("#/components/schemas/");
    if (isSchema && depth >= SCHEMAS_DEEP) return { title: value.$ref.split("/").pop(), type: "object" };
    const keys = value.$ref.slice(2).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    const { $ref, ...beside } = value;
    const found = resolved(keys.reduce((at, key) => at?.[key], root), root, depth + (isSchema ? 1 : 0));
    return { ...found, ...resolved(beside, root, depth) };
  }
  const made = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one, root, depth)]));
  if (!Array.isArray(made.allOf)) return made;
  const { allOf, ...rest } = made; // examples are made of what stands side by side
  return [...allOf, rest].reduce((one, other) => ({
    ...one,
    ...other,
    ...((one.properties || other.properties) && { properties: { ...one.properties, ...other.properties } }),
    ...((one.required || other.required) && { required: [...(one.required ?? []), ...(other.required ?? [])] }),
  }));
}

const OwnReferences = () => ({
  fn: {
    resolveSubtree: async (root, path) => ({
      spec: resolved(path.reduce((at, key) => at?.[key], root), root, 0),
      errors: [],
    }),
  },
});

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  filter: true,
  persistAuthorization: false,
  plugins: [OwnReferences],
  validatorUrl: null,
});
