// Modules of OpenUI5 and names of the loader: the scripts' own types are checked, those of the framework are not.

declare module "sap/*" {
  const value: any;
  export default value;
}

declare module "require" {
  const value: any;
  export default value;
}

declare module "promenade/framework/*" {
  const value: any;
  export default value;
}

declare const sap: any;
