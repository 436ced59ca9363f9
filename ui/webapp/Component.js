sap.ui.define(["sap/ui/core/UIComponent"],(U)=>U.extend("promenade.ui.Component",{metadata:{manifest:"json"}}));
